#include "core/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace howlate {

namespace {
constexpr int mantissa_bits = 7;
constexpr std::size_t bins_per_octave = std::size_t{1} << mantissa_bits;
}  // namespace

// Below 256 the bin is the value. Above, the value is shifted until its leading one stands at bit 7; 128 bins
// for each shift.
std::size_t Histogram::bin_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - (mantissa_bits + 1));
  return (static_cast<std::size_t>(shift) << mantissa_bits) + static_cast<std::size_t>(bits >> shift);
}

std::int64_t Histogram::lower_edge(std::size_t bin) {
  if (bin < 2 * bins_per_octave) return static_cast<std::int64_t>(bin);
  const std::size_t shift = (bin >> mantissa_bits) - 1;
  return static_cast<std::int64_t>((bin - (shift << mantissa_bits)) << shift);
}

std::int64_t Histogram::last_value(std::size_t bin) {
  return bin + 1 < bin_count ? lower_edge(bin + 1) - 1 : INT64_MAX;
}

void Histogram::add(std::int64_t value) {
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const double distance = static_cast<double>(value) - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (static_cast<double>(value) - mean_);
  if (value < 0) {
    ++negatives_;
  } else {
    ++bins_[bin_of(value)];
  }
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  const auto here = static_cast<double>(count_);
  const auto there = static_cast<double>(other.count_);
  const double distance = other.mean_ - mean_;
  mean_ += distance * there / (here + there);
  squares_ += other.squares_ + distance * distance * here * there / (here + there);
  for (std::size_t bin = 0; bin < bin_count; ++bin) bins_[bin] += other.bins_[bin];
  count_ += other.count_;
  negatives_ += other.negatives_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Histogram::stddev() const {
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

std::int64_t Histogram::value_at_rank(std::uint64_t rank) const {
  if (rank <= negatives_) return min_;
  std::uint64_t passed = negatives_;
  for (std::size_t bin = 0; bin < bin_count; ++bin) {
    passed += bins_[bin];
    if (passed >= rank) return std::min(last_value(bin), max_);
  }
  return max_;
}

std::optional<std::int64_t> Histogram::quantile(double q, std::uint64_t beyond) const {
  if (count_ == 0) return std::nullopt;
  // 0.999 * 1000 must not become 1000 by a rounding of its last bit
  const double exact = q * static_cast<double>(count_) * (1 - 1e-15);
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count_);
  if (count_ - rank < beyond) return std::nullopt;
  return value_at_rank(rank);
}

}  // namespace howlate
