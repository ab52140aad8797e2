// clock_nanosleep() with an absolute time. docs/timers.md says what the kernel does at expiry.
#include <sys/syscall.h>
#include <unistd.h>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

#ifdef SYS_clock_nanosleep_time64
constexpr long sys_clock_nanosleep = SYS_clock_nanosleep_time64;
#else
constexpr long sys_clock_nanosleep = SYS_clock_nanosleep;
#endif

// The system call itself: the C library's function is a cancellation point, which costs instructions in every
// activation.
long sleep_until(std::int64_t instant_ns) {
  const KernelTimespec until = kernel_timespec(instant_ns);
  return syscall(sys_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

struct ClockNanosleep : InterruptibleSleep {
  std::int64_t wait(std::int64_t release_ns) {
    check(sleep_until(release_ns));
    return now();
  }
};

Status available() {
  if (sleep_until(0) == 0) return {};
  return not_possible("clock_nanosleep() does not work here: " + errno_text(errno));
}

Status run(LoopContext& loop) {
  ClockNanosleep sleep;
  measure(loop, sleep);
  return outcome(sleep, "clock_nanosleep()");
}

}  // namespace

extern const Timer timer_clock_nanosleep = {
    .name = "clock_nanosleep",
    .summary = "clock_nanosleep() until an absolute time",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
};

}  // namespace howlate
