#include "job/keeper.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "job/command.hpp"
#include "job/processes.hpp"
#include "job/session_folder.hpp"
#include "knobs/base/command.hpp"
#include "sys/clock.hpp"
#include "sys/journal.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

constexpr std::int64_t ms_ns = 1'000'000;
constexpr std::size_t most_bytes = 4096;  // of a request or an answer

Result<struct sockaddr_un> door_of(const std::string& folder) {
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string path = folder + "/door";
  if (path.size() >= sizeof address.sun_path) return not_possible("the path " + path + " is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Fd new_socket(int flags) {
  return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

void answer(const Fd& client, const std::string& text) {
  static_cast<void>(::send(client.get(), text.data(), std::min(text.size(), most_bytes), MSG_NOSIGNAL));
}

void to_file(const std::string& path, std::initializer_list<int> descriptors) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  for (const int one : descriptors) ::dup2(fd.get(), one);
}

struct Work {
  pid_t pid = 0;  // 0: it has ended
  int code = 0;
  bool stopping = false;
  std::int64_t lease_ns = 0;  // the instant at which it is stopped
  std::vector<Fd> waiting;
};

class Keeper {
 public:
  Keeper(const KeeperOptions& options, Fd door, Fd signals)
      : options_(options),
        door_(std::move(door)),
        signals_(std::move(signals)),
        contact_ns_(monotonic_now_ns()) {}

  void keep() {
    const bool had_state = has_state_folder();
    while (!closing_ || running() > 0) {
      sleep();
      look_at_signals();
      reap();
      while (take_caller()) {
      }
      hear_clients();
      end_leases();
      if (running() == 0 && monotonic_now_ns() - contact_ns_ >= options_.keep_ns) close();
    }
    if (!had_state) remove_empty_state_folder();
    remove_session(options_.folder);
    for (const Fd& one : closers_) answer(one, "closed");
  }

 private:
  [[nodiscard]] std::size_t running() const {
    return static_cast<std::size_t>(
        std::count_if(works_.begin(), works_.end(), [](const auto& one) { return one.second.pid > 0; }));
  }

  void sleep() const {
    std::vector<struct pollfd> fds = {{door_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const Fd& one : clients_) fds.push_back({one.get(), POLLIN, 0});
    std::int64_t until_ns = INT64_MAX;
    if (running() == 0) until_ns = contact_ns_ + options_.keep_ns;
    for (const auto& [name, work] : works_)
      if (work.pid > 0 && !work.stopping) until_ns = std::min(until_ns, work.lease_ns);
    const std::int64_t left_ms = (until_ns - monotonic_now_ns()) / ms_ns + 1;
    ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left_ms, 1, 1'000'000)));
  }

  void end_leases() {
    for (auto& [name, work] : works_)
      if (work.pid > 0 && monotonic_now_ns() >= work.lease_ns) stop(work);
  }

  void look_at_signals() {
    while (const int signal = take_signal(signals_))
      if (signal == SIGTERM || signal == SIGINT)
        close();  // SIGHUP: the connection is gone, which is why it is here
  }

  void close() {
    closing_ = true;
    for (auto& [name, work] : works_) stop(work);
  }

  static void stop(Work& work) {
    if (work.pid > 0 && !work.stopping) ::kill(work.pid, SIGTERM);
    work.stopping = true;
  }

  void reap() {
    int how = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &how, WNOHANG)) > 0;)
      for (auto& [name, work] : works_)
        if (work.pid == pid) ended(name, work, how);
  }

  void ended(const std::string& name, Work& work, int how) {
    const std::string folder = options_.folder + '/' + name;
    if (WIFSIGNALED(how) || any_line_was_killed(folder)) restore(folder);
    work.pid = 0;
    work.code = WIFEXITED(how) ? WEXITSTATUS(how) : static_cast<int>(ExitCode::broken);
    for (const Fd& one : work.waiting) answer(one, "ended " + std::to_string(work.code));
    work.waiting.clear();
    contact_ns_ = monotonic_now_ns();  // from now on it waits for its owner
  }

  // Settings that a killed probe could not restore.
  static void restore(const std::string& folder) {
    const pid_t child = ::fork();
    if (child == 0) {
      to_file(folder + "/restored", {STDOUT_FILENO, STDERR_FILENO});
      const ExitCode code = restore_command();
      std::fflush(nullptr);
      ::_exit(static_cast<int>(code));
    }
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  bool take_caller() {
    Fd client(::accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.valid()) return false;
    clients_.push_back(std::move(client));
    return true;
  }

  void hear_clients() {
    std::vector<Fd> silent;
    for (Fd& one : clients_) {
      std::array<char, most_bytes> bytes{};
      const ssize_t got = ::recv(one.get(), bytes.data(), bytes.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) silent.push_back(std::move(one));
      if (got <= 0) continue;
      contact_ns_ = monotonic_now_ns();
      hear(std::string_view(bytes.data(), static_cast<std::size_t>(got)), std::move(one));
    }
    clients_ = std::move(silent);
  }

  void hear(std::string_view request, Fd client) {
    const std::vector<std::string_view> words = split(request, ' ');
    const std::string_view verb = words.empty() ? std::string_view() : words.front();
    const std::string name(words.size() > 1 ? words[1] : std::string_view());
    if (verb == "state") return answer(client, state());
    if (verb == "close") {
      close();
      return closers_.push_back(std::move(client));
    }
    const std::int64_t lease_ns = words.size() > 2 ? std::atoll(std::string(words[2]).c_str()) : 0;
    if (verb == "run") return answer(client, run(name, lease_ns));
    const auto found = works_.find(name);
    if (found == works_.end())
      return answer(client, "error there is no " + in_quotes(name) + " in this session");
    Work& work = found->second;
    if (verb == "stop") stop(work);
    if (verb == "renew" && (work.pid == 0 || work.stopping)) return answer(client, "error its lease is over");
    if (verb == "renew") work.lease_ns = monotonic_now_ns() + lease_ns;
    if (verb == "stop" || verb == "renew") return answer(client, "ok");
    if (verb == "wait" && work.pid > 0) return work.waiting.push_back(std::move(client));
    if (verb == "wait") return answer(client, "ended " + std::to_string(work.code));
    if (verb != "drop" || work.pid > 0)
      return answer(client, "error it cannot be asked to " + in_quotes(request));
    remove_work(options_.folder, name);
    works_.erase(found);
    answer(client, "ok");
  }

  std::string state() const {
    JsonWriter json;
    json.begin_object()
        .member("owner", options_.owner)
        .member("pid", ::getpid())
        .key("running")
        .begin_array();
    for (const auto& [name, work] : works_)
      if (work.pid > 0) json.value(name);
    return json.end_array().end_object().take();
  }

  std::string run(const std::string& name, std::int64_t lease_ns) {
    if (works_.contains(name)) return "ok";
    if (closing_) return "error the session is being closed";
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return "error cannot start a process: " + errno_text(errno);
    if (child == 0) be_job(options_.folder + '/' + name, self);
    works_[name].pid = child;
    works_[name].lease_ns = monotonic_now_ns() + lease_ns;
    return "ok";
  }

  [[noreturn]] void be_job(const std::string& folder, pid_t keeper) {
    door_.reset();
    signals_.reset();
    clients_.clear();
    closers_.clear();
    works_.clear();
    ExitCode code = ExitCode::broken;
    to_file(folder + "/errors", {STDERR_FILENO});
    if (end_with_parent(SIGTERM, keeper)) code = job_command({folder + "/job", "--out", folder + "/out"});
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
  }

  KeeperOptions options_;
  Fd door_, signals_;
  std::int64_t contact_ns_;
  std::map<std::string, Work, std::less<>> works_;
  std::vector<Fd> clients_;  // that have not said what they want
  std::vector<Fd> closers_;
  bool closing_ = false;
};

// The second of two forks: no terminal can become its own, and nobody waits for it.
[[noreturn]] void be_keeper(const KeeperOptions& options, Fd door) {
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  const Fd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.get(), standard);
  static_cast<void>(::chdir("/") == 0);
  ::signal(SIGPIPE, SIG_IGN);
  Result<Fd> signals = open_job_signals();
  if (!signals) ::_exit(static_cast<int>(ExitCode::broken));
  adopt_orphans();
  Keeper(options, std::move(door), std::move(*signals)).keep();
  ::_exit(0);
}

}  // namespace

Status start_keeper(const KeeperOptions& options) {
  const Result<struct sockaddr_un> address = door_of(options.folder);
  if (!address) return address.error();
  Fd door = new_socket(SOCK_NONBLOCK);
  if (!door.valid() ||
      ::bind(door.get(), reinterpret_cast<const struct sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(door.get(), 16) != 0)
    return broken("the session in " + options.folder + " cannot be opened: " + errno_text(errno));
  const pid_t child = ::fork();
  if (child < 0) return broken("cannot start a process: " + errno_text(errno));
  if (child == 0) be_keeper(options, std::move(door));
  ::waitpid(child, nullptr, 0);
  return {};
}

Result<Fd> call_keeper(const std::string& folder, const std::string& request) {
  const Result<struct sockaddr_un> address = door_of(folder);
  if (!address) return address.error();
  Fd call = new_socket(0);
  if (!call.valid() ||
      ::connect(call.get(), reinterpret_cast<const struct sockaddr*>(&*address), sizeof *address) != 0 ||
      ::send(call.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size()))
    return Error{ExitCode::session_over, "the session in " + folder + " is over", "begin anew"};
  return call;
}

Result<std::string> keeper_answer(const Fd& call) {
  std::array<char, most_bytes> bytes{};
  ssize_t got = 0;
  while ((got = ::recv(call.get(), bytes.data(), bytes.size(), 0)) < 0 && errno == EINTR) {
  }
  if (got <= 0) return Error{ExitCode::session_over, "the session is over", "begin anew"};
  std::string text(bytes.data(), static_cast<std::size_t>(got));
  if (text.starts_with("error ")) return broken(text.substr(6));
  return text;
}

bool has_keeper(const std::string& folder) {
  return call_keeper(folder, "state").ok();  // nobody listens at the door of a dead one
}

}  // namespace howlate
