#include "tests/clock_points.hpp"

#include <algorithm>
#include <cmath>

namespace howlate {

double ns_per_step(std::int64_t from_ns, std::int64_t from, std::int64_t to_ns, std::int64_t to) {
  if (to <= from || to_ns <= from_ns) return 1;
  return static_cast<double>(to_ns - from_ns) / static_cast<double>(to - from);
}

namespace {
std::int64_t scaled(std::int64_t steps, double ns_a_step) {
  return ns_a_step == 1 ? steps : std::llround(static_cast<double>(steps) * ns_a_step);
}
}  // namespace

void difference(std::span<std::int64_t> readings, std::span<std::int64_t> time_ns,
                std::span<const ReadingWindow> windows, std::int64_t t0_ns, double ns_a_step) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const ReadingWindow& window = windows[i];
    const auto end = i + 1 < windows.size() ? static_cast<std::size_t>(windows[i + 1].row) : readings.size();
    std::int64_t before = window.first;
    for (auto row = static_cast<std::size_t>(window.row); row < std::min(end, readings.size()); ++row) {
      const std::int64_t reading = readings[row];
      time_ns[row] = window.at_ns - t0_ns + scaled(reading - window.first, ns_a_step);
      readings[row] = scaled(reading - before, ns_a_step);
      before = reading;
    }
  }
}

LongDifferences count_long(std::span<const std::int64_t> differences, std::int64_t limit_ns) {
  LongDifferences found;
  double mean = 0, squares = 0;
  std::int64_t count = 0;
  for (const std::int64_t one : differences) {
    if (one > limit_ns) {
      ++found.above;
      continue;
    }
    const double from_mean = static_cast<double>(one) - mean;
    mean += from_mean / static_cast<double>(++count);
    squares += from_mean * (static_cast<double>(one) - mean);
  }
  if (count > 1) found.stddev_without = std::sqrt(squares / static_cast<double>(count - 1));
  return found;
}

}  // namespace howlate
