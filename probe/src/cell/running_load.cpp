#include "cell/running_load.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cell/load_child.hpp"
#include "core/text.hpp"
#include "loads/base/member.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

constexpr std::int64_t ms_ns = 1'000'000;
constexpr double target_reached = 0.9;

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken("cannot make a pipe to a load: " + errno_text(errno));
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

// Appends what is there. False at the end of the file.
bool drain(const Fd& fd, std::string& text) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = ::read(fd.get(), bytes, sizeof bytes);
    if (got > 0) {
      text.append(bytes, static_cast<std::size_t>(got));
    } else {
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
}

// The sentence that a load left on standard error, without its beginning; its last line.
std::string last_sentence(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  constexpr std::string_view prefix = "howlate-probe: ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

int milliseconds_until(std::int64_t end_ns) {
  const std::int64_t left_ns = end_ns - monotonic_now_ns();
  return left_ns <= 0 ? 0 : static_cast<int>(left_ns / ms_ns) + 1;
}

}  // namespace

Error stopped_early() {
  return {ExitCode::inconclusive, "it was stopped before anything was measured", ""};
}

Status LoadSet::Running::launch(const std::vector<std::string>& words) {
  Result<Pipe> out_pipe = make_pipe(), err_pipe = make_pipe(), report_pipe = make_pipe();
  for (const Result<Pipe>* pipe : {&out_pipe, &err_pipe, &report_pipe})
    if (!*pipe) return pipe->error();
  Result<SharedSlots> memory = SharedSlots::make();
  if (!memory) return memory.error();
  std::vector<std::string> argv = {"howlate-probe", "load"};
  argv.insert(argv.end(), words.begin(), words.end());
  const pid_t parent = ::getpid();
  for (const char* word : {"--report-fd=3", "--slots-fd=4", "--json", "--end-with-parent"})
    argv.emplace_back(word);
  argv.push_back("--parent=" +
                 std::to_string(parent));  // where exec grants rights it forgets what was asked before
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  pid = ::fork();
  if (pid == 0)
    become_load(parent, pointers.data(), out_pipe->write.get(), err_pipe->write.get(),
                report_pipe->write.get(), memory->fd());
  if (pid < 0) {
    pid = 0;
    return not_possible("cannot start the load " + in_quotes(outcome.spec) + ": " + errno_text(errno),
                        "look at 'ulimit -u'");
  }
  ::setpgid(pid, pid);  // by both, so that it holds whoever comes first
  out = std::move(out_pipe->read);
  err = std::move(err_pipe->read);
  report = std::move(report_pipe->read);
  slots = std::move(*memory);
  return {};
}

void LoadSet::Running::read_all() {
  drain(out, out_text);
  drain(err, err_text);
  drain(report, report_text);
  while (report_text.size() >= sizeof(LoadReport)) {
    std::copy_n(report_text.data(), sizeof(LoadReport), reinterpret_cast<char*>(&last));
    report_text.erase(0, sizeof(LoadReport));
    ++reports;
  }
}

bool LoadSet::Running::has_ended() {
  if (pid != 0 && ::waitpid(pid, &how, WNOHANG) == pid) {
    pid = 0;
    read_all();
  }
  return pid == 0;
}

void LoadSet::Running::kill_family() {
  if (pid == 0) return;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &how, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
}

Status LoadSet::Running::wait_ready(std::int64_t end_ns, const Fd& signals) {
  for (;;) {
    if (take_signal(signals) != 0) return stopped_early();
    read_all();
    if (reports > 0) return {};
    if (has_ended()) {
      const std::string why = last_sentence(err_text);
      const bool has_reason = WIFEXITED(how) && WEXITSTATUS(how) != 0 && !why.empty();
      const ExitCode code = has_reason ? static_cast<ExitCode>(WEXITSTATUS(how)) : ExitCode::broken;
      return Error{
          code,
          "load " + in_quotes(outcome.spec) + ": " + (has_reason ? why : "it ended before it was ready"), ""};
    }
    const int left = milliseconds_until(end_ns);
    if (left == 0)
      return broken("load " + in_quotes(outcome.spec) + ": it was not ready within " +
                        format_duration_ns(load_ready_within_ns),
                    "try it alone: howlate-probe load " + outcome.spec);
    struct pollfd fds[] = {{report.get(), POLLIN, 0}, {err.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    ::poll(fds, 3, std::min(left, 20));
  }
}

void LoadSet::Running::wait_report(std::int64_t after_report, std::int64_t end_ns) {
  for (read_all(); reports <= after_report && !has_ended(); read_all()) {
    const int left = milliseconds_until(end_ns);
    if (left == 0) return;
    struct pollfd fd {
      report.get(), POLLIN, 0
    };
    ::poll(&fd, 1, std::min(left, 20));
  }
}

// Of a pipe that the load has closed poll() says so at once, again and again: a real-time thread that asks on the load's only CPU
// would keep it from its end.
void LoadSet::Running::wait_end(std::int64_t end_ns) {
  bool is_open = true;
  while (!has_ended()) {
    const int left = milliseconds_until(end_ns);
    if (left == 0) break;
    struct pollfd fd {
      is_open ? out.get() : -1, POLLIN, 0
    };
    ::poll(&fd, 1, std::min(left, 5));
    if ((fd.revents & (POLLHUP | POLLERR)) != 0) is_open = false;
    read_all();
  }
}

// A load with a target of its own is held against the smaller of the two: where it reaches the target its reference decides nothing.
bool LoadSet::Running::known() const {
  if (const std::optional<double>& target = outcome.goal.target) {
    const double per_second =
        load->held ? rate.per_second() / 1e9 / static_cast<double>(cpu_count) : rate.per_second();
    if (*target <= 0 || per_second >= target_reached * *target) return rate.begun();
  } else if (ended->actions - begun.actions < load->action.wanted ||
             ended->time_ns - begun.time_ns < load->alone_ns) {
    return false;
  }
  return rate.known();
}

// From what the load counted, printed and reported to its outcome.
void LoadSet::Running::finish() {
  const Progress to = *ended;
  const Progress& from = begun.time_ns < to.time_ns ? begun : ready;  // nothing was measured between them
  outcome.duration_ns = to.time_ns - from.time_ns;
  outcome.units = to.units - from.units;
  const auto share_of = [this](std::int64_t cpu_ns, std::int64_t time_ns) {
    return std::max(
        0.0, static_cast<double>(cpu_ns) / (static_cast<double>(time_ns) * static_cast<double>(cpu_count)));
  };
  const LoadReport& newest = after ? *after : last;  // the last one comes when the load ends
  if (load->held && outcome.duration_ns > 0) {
    outcome.achieved_cpu = share_of(to.cpu_ns - from.cpu_ns, outcome.duration_ns);
  } else if (newest.time_ns > before.time_ns) {
    outcome.achieved_cpu = share_of(newest.cpu_ns - before.cpu_ns, newest.time_ns - before.time_ns);
  }
  Goal& goal = outcome.goal;
  goal.duration_ns = outcome.duration_ns;
  goal.actions = to.actions - from.actions;
  if (load->held) {
    goal.achieved = outcome.achieved_cpu.value_or(0);
  } else if (outcome.duration_ns > 0) {
    goal.achieved = 1e9 * static_cast<double>(outcome.units) / static_cast<double>(outcome.duration_ns);
  }
  if (const std::string_view results = json_member(out_text, "results"); !results.empty())
    outcome.results = results;
  if (load->rounds != nullptr) outcome.rounds = load->rounds(slots.slots().front());
  for (const std::string_view line : split(err_text, '\n')) {
    std::string words = last_sentence(std::string(line));
    if (words.starts_with("warning: ")) words.erase(0, 9);
    if (!words.empty()) outcome.warnings.push_back(std::move(words));
  }
}

}  // namespace howlate
