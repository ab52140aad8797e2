// clock_nanosleep() with an absolute time. docs/timers.md says what the kernel does at expiry.
#include "timers/nanosleep.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

struct ClockNanosleep : InterruptibleSleep {
  std::int64_t wait(std::int64_t release_ns) {
    check_returned(sleep_until(release_ns));
    return now();
  }
};

Status available() {
  const long returned = sleep_until(0);
  if (returned == 0) return {};
  return not_possible("clock_nanosleep() does not work here: " + errno_text(static_cast<int>(-returned)));
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
