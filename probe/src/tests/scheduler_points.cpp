#include "tests/scheduler_points.hpp"

#include <algorithm>

namespace howlate {

std::int64_t next_release_ns(std::int64_t now_ns, std::int64_t step) {
  constexpr std::int64_t ahead_ns = 500'000, width_ns = 500'000,
                         stride_ns = 7'919;  // a prime: no common factor
  return now_ns + ahead_ns + step * stride_ns % width_ns;
}

rlim_t descriptors_to_name(rlim_t now, rlim_t most) {
  return std::min(most, std::max(now, descriptors_enough));
}

Status check_inversion(std::int64_t hold_ns, std::int64_t between_ns, int priority) {
  constexpr std::int64_t work_max_ns = 100'000'000;
  if (hold_ns <= 0 || between_ns <= 0 || hold_ns > work_max_ns || between_ns > work_max_ns)
    return usage_error("--hold and --between must be more than 0 and at most 100ms");
  if (priority <= levels_below)
    return usage_error("three priorities are needed", "Choose --policy fifo:3 or higher");
  return {};
}

}  // namespace howlate
