// A log-linear histogram with 7 mantissa bits: every bin is narrower than 1/128 (0.8 %) of its lower edge,
// below 256 exact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace howlate {

// Bins cover every value from 0 to INT64_MAX in fixed storage (57 KiB), so no value lies outside; negative values
// (from a clock that went back, which must not go unnoticed) are counted separately, and the extremes are
// kept exactly. Merging adds.
class Histogram {
 public:
  static constexpr std::size_t bin_count = 56 * 128 + 128;

  // The bin of a value that is not negative, and its edges: lower <= value <= last.
  static std::size_t bin_of(std::int64_t value);
  static std::int64_t lower_edge(std::size_t bin);
  static std::int64_t last_value(std::size_t bin);

  void add(std::int64_t value);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }  // negative ones included
  [[nodiscard]] std::uint64_t negatives() const { return negatives_; }
  [[nodiscard]] std::uint64_t in_bin(std::size_t bin) const { return bins_[bin]; }
  [[nodiscard]] std::int64_t min() const { return min_; }  // INT64_MAX when empty
  [[nodiscard]] std::int64_t max() const { return max_; }  // INT64_MIN when empty
  [[nodiscard]] double mean() const { return mean_; }  // exact to rounding: of the values, not of the bins
  [[nodiscard]] double stddev() const;                 // the sample's (n - 1); 0 below two values

  // The rank-th smallest value (1 = smallest), given as the greatest value of its bin but never above the maximum:
  // it is not below the true one and at most 0.8 % above. A rank among the negative values answers with the
  // minimum. Rank within 1..count().
  [[nodiscard]] std::int64_t value_at_rank(std::uint64_t rank) const;
  // The value of rank ceil(q * count); no value unless at least `beyond` values lie above that rank.
  [[nodiscard]] std::optional<std::int64_t> quantile(double q, std::uint64_t beyond = 10) const;

 private:
  std::array<std::uint64_t, bin_count> bins_{};
  std::uint64_t count_ = 0;
  std::uint64_t negatives_ = 0;
  std::int64_t min_ = INT64_MAX;
  std::int64_t max_ = INT64_MIN;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean (Welford; merged after Chan)
};

}  // namespace howlate
