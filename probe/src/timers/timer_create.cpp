// A POSIX timer of this thread's own (SIGEV_THREAD_ID), armed with an absolute time for each activation, and
// sigwait().
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "timers/sleep.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace howlate {

namespace {

class PosixTimer {
 public:
  explicit PosixTimer(int signal) {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    made_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~PosixTimer() {
    if (made_) timer_delete(timer_);
  }
  PosixTimer(const PosixTimer&) = delete;
  PosixTimer& operator=(const PosixTimer&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  int arm(std::int64_t release_ns) {
    struct itimerspec once = {};
    once.it_value = timespec_of(release_ns);
    return timer_settime(timer_, TIMER_ABSTIME, &once, nullptr);
  }

 private:
  timer_t timer_ = {};
  bool made_ = false;
};

int timer_signal() {
  return SIGRTMIN + 2;
}

class TimerCreate : public SignalSleep {
 public:
  TimerCreate() : SignalSleep(timer_signal()), timer_(timer_signal()) {}
  [[nodiscard]] bool made() const { return timer_.made(); }

  std::int64_t wait(std::int64_t release_ns) {
    check(timer_.arm(release_ns));
    wait_for_signal();
    return now();
  }

 private:
  PosixTimer timer_;  // deleted first, then its signal is drained
};

Status available() {
  if (PosixTimer(timer_signal()).made()) return {};
  return not_possible("this kernel gives no POSIX timer: " + errno_text(errno), "choose another timer");
}

Status run(LoopContext& loop) {
  TimerCreate sleep;
  if (!sleep.made()) return broken("timer_create() failed: " + errno_text(errno));
  measure(loop, sleep);
  return outcome(sleep, "timer_settime() or sigwait()");
}

}  // namespace

extern const Timer timer_timer_create = {
    .name = "timer_create",
    .summary = "timer_settime() with an absolute time on a timer_create() timer, and sigwait()",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
};

}  // namespace howlate
