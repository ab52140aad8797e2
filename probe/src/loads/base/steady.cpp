#include "loads/base/steady.hpp"

#include <cmath>
#include <limits>

namespace howlate {

void SteadyRate::add(std::int64_t time_ns, std::int64_t total) {
  if (count_ != 0 && time_ns <= points_[count_ - 1].time_ns) return;
  if (count_ == points_.size()) {
    for (std::size_t i = 1; i <= windows_least; ++i) points_[i] = points_[2 * i];
    count_ = windows_least + 1;
  }
  points_[count_++] = {time_ns, total};
}

double SteadyRate::per_second() const {
  if (windows() == 0) return 0;
  const Point &first = points_[0], &last = points_[count_ - 1];
  return 1e9 * static_cast<double>(last.total - first.total) /
         static_cast<double>(last.time_ns - first.time_ns);
}

// Windows differ in length where the reader came late: each counts by its length.
double SteadyRate::error() const {
  const double mean = per_second();
  if (windows() < windows_least || mean <= 0) return std::numeric_limits<double>::infinity();
  const auto whole_ns = static_cast<double>(points_[count_ - 1].time_ns - points_[0].time_ns);
  double variance = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    const auto length_ns = static_cast<double>(points_[i].time_ns - points_[i - 1].time_ns);
    const double rate = 1e9 * static_cast<double>(points_[i].total - points_[i - 1].total) / length_ns;
    variance += length_ns / whole_ns * (rate - mean) * (rate - mean);
  }
  return std::sqrt(variance / static_cast<double>(windows() - 1)) / mean;
}

}  // namespace howlate
