// Evaluation of the test clock's readings after the last one: differences, and how many of them are long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace howlate {

// Readings were made in windows. The first reading of each is not among the stored ones.
struct ReadingWindow {
  std::int64_t row = 0;    // of the first stored reading
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC just before the first reading
  std::int64_t first = 0;  // that reading, in the clock's own unit
};

// Nanoseconds of one step of the counter, from two pairs of readings; 1 where they do not differ.
double ns_per_step(std::int64_t from_ns, std::int64_t from, std::int64_t to_ns, std::int64_t to);

// Turns readings into differences in place, in nanoseconds, and says in `time_ns` where each lies after `t0_ns`.
void difference(std::span<std::int64_t> readings, std::span<std::int64_t> time_ns,
                std::span<const ReadingWindow> windows, std::int64_t t0_ns, double ns_a_step);

struct LongDifferences {
  std::int64_t above = 0;     // how many are above the limit
  double stddev_without = 0;  // of the others
};
LongDifferences count_long(std::span<const std::int64_t> differences, std::int64_t limit_ns);

}  // namespace howlate
