#include "loads/base/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include "core/text.hpp"
#include "loads/base/family.hpp"
#include "loads/base/progress.hpp"
#include "sys/clock.hpp"
#include "sys/rights.hpp"

namespace howlate {
namespace {

template <std::size_t size>
void keep(std::array<char, size>& place, std::string_view text) {
  const std::size_t many = std::min(text.size(), size - 1);
  std::memcpy(place.data(), text.data(), many);
  place[many] = '\0';
}

Result<Fd> open_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) ::sigaddset(&set, one);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // an inherited "ignored" would take the children's account away
  Fd fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.valid()) return broken("cannot wait for signals: " + errno_text(errno));
  return fd;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

// A lower nice value than the present one is a right of its own.
Status may_have_nice(int nice) {
  const Result<SchedPolicy> now = read_policy();
  if (!now || nice >= now->nice || has_capability({}, Capability::sys_nice)) return {};
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NICE, &limit);
  if (limit.rlim_cur != RLIM_INFINITY && 20 - nice > static_cast<int>(limit.rlim_cur))
    return not_possible("this user may not have the nice value " + std::to_string(nice),
                        remedy_of_root() + ", or raise 'ulimit -e'");
  return {};
}

}  // namespace

void Worker::warn(std::string_view text) const {
  keep(slot.warning, text);
}

void Worker::say_ready() const {
  slot.state.store(WorkerSlot::ready, std::memory_order_release);
  const char byte = 0;
  // The supervisor waits on the pipe; if it is full the supervisor is awake anyway.
  [[maybe_unused]] const ssize_t written = ::write(ready_fd, &byte, 1);
}

Supervisor::~Supervisor() {
  end_workers();
  if (!slots_.empty()) ::munmap(slots_.data(), slots_.size_bytes());
}

Result<LoadSummary> Supervisor::run() {
  if (const Status status = prepare(); !status) return status.error();
  if (const Status status = wait_until_ready(); !status) return status.error();
  ready_ns_ = monotonic_now_ns();
  cpu_before_ns_ = 0;
  cpu_before_ns_ = cpu_last_ns_ = totals().cpu_ns;
  report();
  LoadSummary summary;
  for (const WorkerSlot& slot : slots_) {
    const std::string warning(slot.warning.data());
    if (warning.empty() ||
        std::find(summary.warnings.begin(), summary.warnings.end(), warning) != summary.warnings.end())
      continue;
    std::fprintf(stderr, "howlate-probe: warning: %s\n", sentence({ExitCode::done, warning, {}}).c_str());
    summary.warnings.push_back(warning);
  }
  if (const Status status = supervise(); !status) return status.error();

  summary.totals = totals();  // before they die: what many tasks use for that is not the load
  end_workers();
  write_report(summary.totals);
  summary.duration_ns = summary.totals.time_ns - ready_ns_;
  if (summary.duration_ns > 0 && !request_.cpus.empty())
    summary.achieved_cpu =
        static_cast<double>(summary.totals.cpu_ns) /
        (static_cast<double>(summary.duration_ns) * static_cast<double>(request_.cpus.size()));
  if (request_.load->results != nullptr) {
    JsonWriter json;
    json.begin_object();
    request_.load->results(slots_.front(), json);
    summary.results = json.end_object().take();
  }
  return summary;
}

Status Supervisor::prepare() {
  const Spread spread = request_.load->spread;
  const std::size_t workers = request_.workers();
  Result<Fd> signals = open_signals();
  if (!signals) return signals.error();
  signals_ = std::move(*signals);
  if (const Status status = request_.check(); !status) return status;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return broken("cannot make a pipe: " + errno_text(errno));
  ready_read_ = Fd(ends[0]);
  ready_write_ = Fd(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER,
          1);  // a worker's own children come to us when it ends, so that they are accounted for
  if (const Status status = take_place(); !status) return status;
  if (const Status status = map_slots(workers); !status) return status;
  for (std::size_t i = 0; i < workers; ++i)
    if (const Status status = start_worker(i, spread == Spread::per_cpu); !status) return status;
  return {};
}

// The supervisor runs where its workers may, above them, so that it can end them.
Status Supervisor::take_place() const {
  if (const Status status = set_affinity(request_.cpus); !status) return status;
  if (request_.load->spread == Spread::none) return {};
  SchedPolicy policy = request_.policy;
  if (policy.real_time()) {
    policy.priority = std::min(policy.priority + 1, 99);
    const Status above = set_policy(policy);
    return above ? above : set_policy(request_.policy);
  }
  if (const Status status = may_have_nice(policy.nice); !status) return status;
  const Result<SchedPolicy> now = read_policy();
  if (now && (now->kind == SchedKind::other) && now->nice <= policy.nice)
    return {};  // it stays as the caller started it
  return set_policy({.kind = SchedKind::other, .nice = policy.nice});
}

Status Supervisor::map_slots(std::size_t workers) {
  if (workers == 0) return {};
  const bool shared = request_.params.is_set("slots-fd");
  const Fd file(shared ? static_cast<int>(request_.params.integer("slots-fd")) : -1);
  const auto slots = map_worker_slots(workers, file.get());
  if (!slots) return slots.error();
  slots_ = *slots;
  if (request_.load->spread == Spread::per_cpu) return {};  // a pinned worker has no children
  constexpr std::size_t children_bytes = WorkerSlot::children_max * sizeof(std::atomic<pid_t>);
  void* place = ::mmap(nullptr, children_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return broken("cannot map memory shared with the workers: " + errno_text(errno));
  slots_.front().children = static_cast<std::atomic<pid_t>*>(place);  // until the process ends
  return {};
}

Status Supervisor::start_worker(std::size_t index, bool pinned) {
  std::fflush(nullptr);
  const pid_t pid = fork_child();
  if (pid == 0) be_worker(index, pinned);
  if (pid < 0)
    return not_possible("cannot start a worker of the load: " + errno_text(errno),
                        "look at 'ulimit -u' and at the control group's pids.max");
  slots_[index].pid.store(pid, std::memory_order_relaxed);
  pids_.push_back(pid);
  return {};
}

void Supervisor::be_worker(std::size_t index, bool pinned) {
  signals_.reset();
  ready_read_.reset();
  if (request_.params.is_set("report-fd")) ::close(static_cast<int>(request_.params.integer("report-fd")));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  WorkerSlot& slot = slots_[index];
  Worker worker{request_.params, pinned ? std::vector<int>{request_.cpus[index]} : request_.cpus, slot,
                ready_write_.get()};
  Status status = set_affinity(worker.cpus);
  if (status.ok()) status = set_policy(request_.policy);
  if (status.ok()) status = request_.load->work(worker);
  const Error error = status.ok() ? broken("the load ended by itself") : status.error();
  slot.code = static_cast<int>(error.code);
  keep(slot.message, error.message);
  keep(slot.remedy, error.remedy);
  slot.state.store(WorkerSlot::failed, std::memory_order_release);
  ::_exit(static_cast<int>(error.code));
}

Status Supervisor::wait_until_ready() {
  const auto is_ready = [](const WorkerSlot& slot) {
    return slot.state.load(std::memory_order_acquire) == WorkerSlot::ready;
  };
  while (!stopping_ && !std::all_of(slots_.begin(), slots_.end(), is_ready)) {
    struct pollfd fds[] = {{signals_.get(), POLLIN, 0}, {ready_read_.get(), POLLIN, 0}};
    ::poll(fds, 2, -1);
    char bytes[256];
    while (::read(ready_read_.get(), bytes, sizeof bytes) > 0) {
    }
    if (const Status status = read_signals(); !status) return status;
  }
  return {};
}

Status Supervisor::supervise() {
  const std::int64_t end_ns =
      request_.params.is_set("duration") ? ready_ns_ + request_.params.integer("duration") : INT64_MAX;
  std::int64_t report_ns = ready_ns_ + second_ns;
  while (!stopping_) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (now_ns >= end_ns) break;
    if (now_ns >= report_ns || asked_) {
      report();
      asked_ = false;
      while (report_ns <= now_ns) report_ns += second_ns;
    }
    const std::int64_t left_ns = std::min(end_ns, report_ns) - now_ns;
    const struct timespec left = timespec_of(left_ns);
    struct pollfd fds[] = {{signals_.get(), POLLIN, 0}};
    ::ppoll(fds, 1, left_ns > 0 ? &left : nullptr, nullptr);
    if (const Status status = read_signals(); !status) return status;
  }
  return {};
}

Status Supervisor::read_signals() {
  struct signalfd_siginfo info {};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGUSR1) {
      asked_ = true;
    } else if (info.ssi_signo == SIGCHLD) {
      if (const Status status = child_ended(); !status) return status;
    } else {
      stopping_ = true;
    }
  }
  return {};
}

// No worker ends by itself: one that did has said why, or was killed.
Status Supervisor::child_ended() {
  int how = 0;
  for (pid_t pid = ::waitpid(-1, &how, WNOHANG); pid > 0; pid = ::waitpid(-1, &how, WNOHANG)) {
    const auto found = std::find(pids_.begin(), pids_.end(), pid);
    if (found == pids_.end()) continue;  // an orphan of a worker
    const WorkerSlot& slot = slots_[static_cast<std::size_t>(found - pids_.begin())];
    *found = 0;
    if (slot.state.load(std::memory_order_acquire) == WorkerSlot::failed)
      return Error{static_cast<ExitCode>(slot.code), slot.message.data(), slot.remedy.data()};
    const std::string worker = "a worker of the load " + std::string(request_.load->name) + ' ';
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL && out_of_memory_kills(Root()) != memory_kills_before_)
      return not_possible(worker + "was killed because memory ran out",
                          "give it less to take, or its control group more");
    return broken(worker + how_it_ended(how));
  }
  return {};
}

LoadReport Supervisor::totals() {
  LoadReport now{};
  now.time_ns = monotonic_now_ns();
  std::int64_t cpu_ns = own_cpu_ns();
  for (std::size_t i = 0; i < pids_.size(); ++i) {
    if (pids_[i] != 0) cpu_ns += family_cpu_ns(slots_[i], pids_[i]);
    now.units += slots_[i].units.load(std::memory_order_relaxed);
    now.restarts += slots_[i].restarts.load(std::memory_order_relaxed);
    now.actions += slots_[i].actions.load(std::memory_order_relaxed);
  }
  if (!request_.load->action.counted) now.actions = now.units;
  cpu_last_ns_ =
      std::max(cpu_last_ns_, cpu_ns);  // a child that is between its end and its account must not lower it
  now.cpu_ns = cpu_last_ns_ - cpu_before_ns_;
  return now;
}

// A full pipe belongs to a reader that sleeps: this record is left out, the next one holds the totals as well.
void Supervisor::write_report(const LoadReport& now) const {
  if (!request_.params.is_set("report-fd")) return;
  struct pollfd place {};
  place.fd = static_cast<int>(request_.params.integer("report-fd"));
  place.events = POLLOUT;
  if (::poll(&place, 1, 0) != 1 || (place.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t written = ::write(place.fd, &now, sizeof now);
}

void Supervisor::report() {
  const LoadReport now = totals();
  write_report(now);
  live_line(now);
}

void Supervisor::live_line(const LoadReport& now) const {
  if (request_.params.flag("json") || request_.params.flag("quiet") || ::isatty(STDOUT_FILENO) == 0) return;
  const double wall_ns =
      static_cast<double>(now.time_ns - ready_ns_) * static_cast<double>(request_.cpus.size());
  const double share = wall_ns > 0 ? 100.0 * static_cast<double>(now.cpu_ns) / wall_ns : 0.0;
  std::printf("\r%s%s%s  %4.0f s  %5.1f %% of CPU %s  %lld %.*s\x1b[K",
              std::string(request_.load->name).c_str(), request_.target.empty() ? "" : ":",
              request_.target.c_str(), static_cast<double>(now.time_ns - ready_ns_) / 1e9, share,
              cpu_list_text(request_.cpus).c_str(), static_cast<long long>(now.units),
              static_cast<int>(request_.load->unit.size()), request_.load->unit.data());
  std::fflush(stdout);
}

void Supervisor::end_workers() {
  std::deque<ServedFirst> dying;  // each has to run once more to die, perhaps among thousands of its own
  for (pid_t& pid : pids_) {
    if (pid != 0) ::kill(pid, SIGKILL);
    if (pid != 0) dying.emplace_back(pid);
    pid = 0;
  }
  // Grandchildren die with their parent, come to us, and are waited for as well.
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
}

}  // namespace howlate
