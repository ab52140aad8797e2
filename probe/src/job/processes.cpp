#include "job/processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/text.hpp"
#include "job/disk.hpp"
#include "job/module.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/guardian.hpp"
#include "sys/process.hpp"
#include "sys/tasks.hpp"

namespace howlate {
namespace {

constexpr std::int64_t undoing_ns =
    30'000'000'000;  // at most: a program that only has a guardian's name is ended then
constexpr std::int64_t undoing_pause_ns = 1'000'000;

struct Streams {
  Fd in, out, err;
};

Result<Streams> open_streams(const std::string& folder) {
  const auto fresh = [&](const char* name) {
    return Fd(::open((folder + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  };
  Streams streams{Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), fresh("/stdout"), fresh("/stderr")};
  if (!streams.in.valid() || !streams.out.valid() || !streams.err.valid())
    return broken("cannot open the output files in " + folder + ": " + errno_text(errno));
  return streams;
}

ExitCode told(const Status& status) {
  if (status) return ExitCode::done;
  std::fprintf(stderr, "howlate-probe: %s\n", sentence(status.error()).c_str());
  return status.error().code;
}

ExitCode copy_to_output(const std::string& path) {
  std::string content;
  if (const int error = read_whole(path, content); error != 0)
    return told(not_possible("cannot read " + path + ": " + errno_text(error)));
  const bool whole = std::fwrite(content.data(), 1, content.size(), stdout) == content.size();
  if (!whole || std::fflush(stdout) != 0) return told(broken("cannot write a copy of " + path));
  return ExitCode::done;
}

// What the child does. Only a program that cannot be executed comes back.
ExitCode do_line(const JobLine& line, bool guest) {
  if (line.kind == JobLine::LineKind::module) return told(load_module(line));
  if (line.kind == JobLine::LineKind::unload) return told(unload_module(line.argv[1]));
  if (line.kind == JobLine::LineKind::disk && !guest)
    return told(
        not_possible("a disk is only made in a guest: everything on " + line.argv[1] + " would be lost",
                     "Leave the line out and name a folder with the load's directory="));
  if (line.kind == JobLine::LineKind::disk) return told(make_disk(line.argv[1], line.argv[2]));
  if (line.kind == JobLine::LineKind::copy) return copy_to_output(line.argv[1]);
  std::vector<char*> words;
  for (const std::string& word : line.argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::string path = line.kind == JobLine::LineKind::probe ? "/proc/self/exe" : line.argv.front();
  ::execv(path.c_str(), words.data());
  return told(not_possible(line.argv.front() + " cannot be executed: " + errno_text(errno)));
}

[[noreturn]] void be_line(const JobLine& line, const std::string& folder, const Streams& streams,
                          pid_t parent, bool guest) {
  if (!end_with_parent(SIGKILL, parent)) ::_exit(static_cast<int>(ExitCode::broken));
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(streams.in.get(), STDIN_FILENO);
  ::dup2(streams.out.get(), STDOUT_FILENO);
  ::dup2(streams.err.get(), STDERR_FILENO);
  ExitCode code = ExitCode::broken;
  if (::chdir(folder.c_str()) == 0) code = do_line(line, guest);
  std::fflush(stderr);
  ::_exit(static_cast<int>(code));
}

// Whether some were spared: guardians, whose probes have ended and left something that they are undoing.
bool kill_children(bool guardians) {
  const OpenFolder folder(::opendir("/proc"));
  const pid_t self = ::getpid();
  bool spared = false;
  while (folder) {
    const struct dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid <= 0) continue;
    const auto text = read_text("/proc/" + std::string(entry->d_name) + "/stat");
    const auto task = text ? parse_task_stat(*text) : Result<TaskStat>(broken("it has ended"));
    if (!task || task->parent != self) continue;
    const bool spare = !guardians && task->name == guardian_name;
    spared = spared || spare;
    if (!spare) ::kill(pid, SIGKILL);
  }
  return spared;
}

}  // namespace

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Result<Fd> open_job_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int end : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    ::sigaction(end, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ::sigaddset(&set, end);  // nohup holds
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // an inherited "ignored" would take away how the lines ended
  Fd fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.valid()) return broken("cannot wait for signals: " + errno_text(errno));
  return fd;
}

Result<pid_t> start_line(const JobLine& line, const std::string& folder, bool guest) {
  const Result<Streams> streams = open_streams(folder);
  if (!streams) return streams.error();
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return broken("cannot start a process: " + errno_text(errno));
  if (child == 0) be_line(line, folder, *streams, parent, guest);
  ::setpgid(child, child);  // here as well: whoever comes first
  return child;
}

bool take_ended(pid_t pid, int& how) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid)
    return false;
  ::kill(-pid, SIGKILL);  // before the wait: until then nobody else can have the number
  return ::waitpid(pid, &how, 0) == pid;
}

void reap_others(pid_t pid) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || info.si_pid == pid)
      return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

void end_descendants() {
  const std::int64_t undone_ns = monotonic_now_ns() + undoing_ns;
  for (;;) {
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    if (kill_children(monotonic_now_ns() >= undone_ns)) {
      const struct timespec pause = timespec_of(undoing_pause_ns);
      ::nanosleep(&pause, nullptr);
      continue;
    }
    while (::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

std::string status_text(int how) {
  if (WIFSIGNALED(how)) return "signal " + std::to_string(WTERMSIG(how));
  return std::to_string(WEXITSTATUS(how));
}

}  // namespace howlate
