// clock_nanosleep() with what is left until the release, read from the clock just before.
// What passes between that reading and the kernel's own is added to every latency: a relative sleep is late
// by design.
#include "timers/nanosleep.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

struct ClockNanosleepRelative : InterruptibleSleep {
  std::int64_t wait(std::int64_t release_ns) {
    const std::int64_t before_ns = now();
    if (before_ns >= release_ns) return before_ns;
    check_returned(sleep_for(release_ns - before_ns));
    return now();
  }
};

Status available() {
  const long returned = sleep_for(0);
  if (returned == 0) return {};
  return not_possible("clock_nanosleep() does not work here: " + errno_text(static_cast<int>(-returned)));
}

Status run(LoopContext& loop) {
  ClockNanosleepRelative sleep;
  measure(loop, sleep);
  return outcome(sleep, "clock_nanosleep()");
}

}  // namespace

extern const Timer timer_clock_nanosleep_relative = {
    .name = "clock_nanosleep-relative",
    .summary = "clock_nanosleep() for the time left until the release",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
};

}  // namespace howlate
