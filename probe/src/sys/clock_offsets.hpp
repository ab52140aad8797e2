// What happened to the machine's clocks meanwhile: how far they are from CLOCK_MONOTONIC, read before and after.
#pragma once

#include <time.h>

#include <cstdint>
#include <functional>

namespace howlate {

using ReadClock = std::function<std::int64_t(clockid_t)>;  // in nanoseconds

// Each clock minus CLOCK_MONOTONIC.
struct ClockOffsets {
  std::int64_t boottime_ns = 0;  // grows while the machine is suspended
  std::int64_t realtime_ns = 0;  // jumps when the clock is set
  std::int64_t raw_ns = 0;       // drifts by as much as the clock is slewed
};
ClockOffsets read_clock_offsets(const ReadClock& read);
ClockOffsets read_clock_offsets();

struct ClockChanges {
  std::int64_t suspended_ns = 0;
  std::int64_t stepped_ns = 0;
  std::int64_t slewed_ppm = 0;  // by how much CLOCK_MONOTONIC was faster than the hardware's clock
};
// What is below the error of the readings, or what any crystal needs, is 0.
ClockChanges clock_changes(const ClockOffsets& before, const ClockOffsets& after, std::int64_t duration_ns);

}  // namespace howlate
