// A POSIX timer of this thread's own (SIGEV_THREAD_ID), armed with an absolute time for each activation, and
// sigwait().
#include "sys/posix_timer.hpp"
#include "sys/thread.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

int timer_signal() {
  return SIGRTMIN + 2;
}

class TimerCreate : public SignalSleep {
 public:
  TimerCreate() : SignalSleep(timer_signal()), timer_(timer_signal(), thread_number()) {}
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
  if (PosixTimer(timer_signal(), thread_number()).made()) return {};
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
