// setitimer(ITIMER_REAL), which the kernel repeats, and sigwait(): the loop of the published studies.
//
// SIGALRM goes to the process and does not queue: the expiries of a stall are one signal, and the kernel sets
// the next one ahead of "now" on the first one's grid. What has passed is therefore found from the clock;
// as-published does not look, and lags for ever after. Every other thread must keep SIGALRM blocked
// (take_end_signals() does it for all).
#include <dirent.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

struct timeval to_timeval(std::int64_t duration_us) {
  struct timeval converted;
  converted.tv_sec = static_cast<decltype(converted.tv_sec)>(duration_us / 1'000'000);
  converted.tv_usec = static_cast<decltype(converted.tv_usec)>(duration_us % 1'000'000);
  return converted;
}

class Setitimer : public SignalSleep {
 public:
  // Armed for the releases from `warm_up_ns` before t0 on.
  Setitimer(LoopContext& loop, std::int64_t warm_up_ns) : SignalSleep(SIGALRM) {
    check(arm(loop, warm_up_ns));
  }
  ~Setitimer() {
    const struct itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
  }
  Setitimer(const Setitimer&) = delete;
  Setitimer& operator=(const Setitimer&) = delete;

  std::int64_t wait(std::int64_t release_ns) {
    const std::int64_t before_ns = now();
    if (before_ns >= release_ns) return before_ns;
    wait_for_signal();
    return now();
  }

 protected:
  [[nodiscard]] std::int64_t first_expiry_ns() const { return first_ns_; }  // the release that it stands for

 private:
  // The first expiry is the first release to come, rounded up to a whole microsecond; two clock reads say how
  // far behind the release it can be.
  int arm(LoopContext& loop, std::int64_t warm_up_ns) {
    drain();
    const ScheduleSpec& spec = loop.schedule.spec();
    const std::int64_t before_ns = now();
    const ScheduleSpec warm = warm_up_schedule(spec, warm_up_ns);
    first_ns_ = warm.t0_ns + Schedule(warm).due_by(before_ns) * spec.period_ns;
    const std::int64_t away_us = std::max<std::int64_t>((first_ns_ - before_ns + 999) / 1000, 1);
    const struct itimerval repeated = {to_timeval(spec.period_ns / 1000), to_timeval(away_us)};
    const int returned = setitimer(ITIMER_REAL, &repeated, nullptr);
    loop.phase_before_ns = before_ns + away_us * 1000 - first_ns_;
    loop.phase_after_ns = now() + away_us * 1000 - first_ns_;
    return returned;
  }

  std::int64_t first_ns_ = 0;
};

// The loop that the studies print: each expiry is one activation, whatever the clock says. Releases that had
// passed when the timer was armed have no expiry: they are served at once, so that expiry and release agree.
class SetitimerAsPublished : public Setitimer {
 public:
  using Setitimer::Setitimer;

  std::int64_t wait(std::int64_t release_ns) {
    taken_ = release_ns < first_expiry_ns() ? SIGALRM : wait_for_signal();
    return now();
  }
  [[nodiscard]] bool early(std::int64_t /*release_ns*/, std::int64_t /*now_ns*/) const {
    return taken_ != SIGALRM;
  }

 private:
  int taken_ = 0;
};

// Signals that a thread of this process has blocked, one bit each.
std::uint64_t blocked_signals(const std::string& thread) {
  const std::string status = read_text("/proc/self/task/" + thread + "/status").value_or("");
  const std::size_t line = status.find("\nSigBlk:");
  return line == std::string::npos ? ~0ULL : std::strtoull(status.c_str() + line + 8, nullptr, 16);
}

// The kernel gives SIGALRM to any thread that takes it, the first one before all others.
Status check_other_threads() {
  const std::string self = std::to_string(syscall(SYS_gettid));
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return {};
  std::string taker;
  while (const struct dirent* entry = readdir(folder)) {
    const std::string thread = entry->d_name;
    if (thread[0] == '.' || thread == self) continue;
    if ((blocked_signals(thread) & (1ULL << (SIGALRM - 1))) == 0) taker = thread;
  }
  closedir(folder);
  if (taker.empty()) return {};
  return broken("thread " + taker + " of this process would take SIGALRM from the measuring thread",
                "every thread must block it before the measurement starts");
}

Status available() {
  struct itimerval left;
  if (getitimer(ITIMER_REAL, &left) == 0) return {};
  return not_possible("this kernel gives no interval timer: " + errno_text(errno), "choose another timer");
}

// The warm-up looks at the clock and has a timer of its own: a signal that is pending when a stall ends would
// otherwise be taken for the next release, and every sample come a period before its own.
Status warm_up_apart(LoopContext& loop) {
  Setitimer sleep(loop, loop.warm_up_ns);
  warm_up(loop, sleep);
  return outcome(sleep, "setitimer() or sigwait()");
}

Status run(LoopContext& loop) {
  if (Status alone = check_other_threads(); !alone) return alone;
  if (loop.late_policy == LatePolicy::as_published) {
    if (Status warmed = warm_up_apart(loop); !warmed) return warmed;
    SetitimerAsPublished sleep(loop, 0);
    measure<LatePolicy::as_published>(loop, sleep);
    return outcome(sleep, "setitimer() or sigwait()");
  }
  Setitimer sleep(loop, loop.warm_up_ns);
  measure(loop, sleep);
  return outcome(sleep, "setitimer() or sigwait()");
}

}  // namespace

extern const Timer timer_setitimer = {
    .name = "setitimer",
    .summary = "setitimer(ITIMER_REAL), repeated by the kernel, and sigwait()",
    .armed_each_activation = false,
    .as_published = true,
    .one_thread = true,
    .period_step_ns = 1000,
    .available = available,
    .run = run,
};

}  // namespace howlate
