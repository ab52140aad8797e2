#include "sys/clock_offsets.hpp"

#include "sys/clock.hpp"

namespace howlate {

namespace {

constexpr int readings = 5;
constexpr std::int64_t least_ns = 1'000'000;       // the reading thread may lose its CPU between two clocks
constexpr std::int64_t least_ppm = 100;            // more than an ordinary crystal needs
constexpr std::int64_t shortest_ns = 500'000'000;  // below it a slew hides in the error of the readings

std::int64_t clock_ns(clockid_t clock) {
  struct timespec now {};
  ::clock_gettime(clock, &now);
  return ns_of(now);
}

// The difference that lies between the two closest readings of CLOCK_MONOTONIC.
std::int64_t minus_monotonic_ns(const ReadClock& read, clockid_t clock) {
  std::int64_t best_ns = 0, narrowest_ns = INT64_MAX;
  for (int i = 0; i < readings; ++i) {
    const std::int64_t before_ns = read(CLOCK_MONOTONIC), there_ns = read(clock);
    const std::int64_t width_ns = read(CLOCK_MONOTONIC) - before_ns;
    if (width_ns >= narrowest_ns) continue;
    narrowest_ns = width_ns;
    best_ns = there_ns - before_ns - width_ns / 2;
  }
  return best_ns;
}

std::int64_t beyond(std::int64_t change, std::int64_t least) {
  return change > least || change < -least ? change : 0;
}

}  // namespace

ClockOffsets read_clock_offsets(const ReadClock& read) {
  return {minus_monotonic_ns(read, CLOCK_BOOTTIME), minus_monotonic_ns(read, CLOCK_REALTIME),
          minus_monotonic_ns(read, CLOCK_MONOTONIC_RAW)};
}

ClockOffsets read_clock_offsets() {
  return read_clock_offsets(clock_ns);
}

ClockChanges clock_changes(const ClockOffsets& before, const ClockOffsets& after, std::int64_t duration_ns) {
  ClockChanges changes;
  changes.suspended_ns = beyond(after.boottime_ns - before.boottime_ns, least_ns);
  // what was slept is added to CLOCK_REALTIME too
  changes.stepped_ns = beyond(after.realtime_ns - before.realtime_ns - changes.suspended_ns, least_ns);
  if (duration_ns >= shortest_ns)
    changes.slewed_ppm = beyond((before.raw_ns - after.raw_ns) * 1'000'000 / duration_ns, least_ppm);
  return changes;
}

}  // namespace howlate
