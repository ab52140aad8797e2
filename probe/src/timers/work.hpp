// The work of an activation: arithmetic that touches no memory, in iterations whose speed is measured shortly
// before.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sys/clock.hpp"

namespace howlate {

// A chain of multiply and add: an iteration is the same instructions whichever compiler built the probe. There is
// one copy of it, whose file has no caller that could be given its own, so what is measured below is what works.
void do_work(std::int64_t iterations);

// Iterations per nanosecond: the fastest of several rounds, so that a round in which the thread was switched
// out does not count. Takes about 10 ms. The clock's speed of the moment: where the frequency changes, the
// work's length does too.
inline double measure_work_speed() {
  constexpr std::int64_t iterations = 1 << 18;
  double fastest = 0;
  for (int round = 0; round < 20; ++round) {
    const std::int64_t before_ns = monotonic_now_ns();
    do_work(iterations);
    const std::int64_t took_ns = std::max<std::int64_t>(monotonic_now_ns() - before_ns, 1);
    fastest = std::max(fastest, static_cast<double>(iterations) / static_cast<double>(took_ns));
  }
  return fastest;
}

// How many iterations take `work_ns`; at least one where any work is wanted.
inline std::int64_t work_iterations(std::int64_t work_ns, double iterations_per_ns) {
  if (work_ns <= 0) return 0;
  return std::max<std::int64_t>(1,
                                static_cast<std::int64_t>(static_cast<double>(work_ns) * iterations_per_ns));
}

}  // namespace howlate
