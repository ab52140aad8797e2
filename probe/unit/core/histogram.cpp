#include "core/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "core/text_histogram.hpp"

namespace howlate {
namespace {

std::unique_ptr<Histogram> made_of(const std::vector<std::int64_t>& values) {
  auto histogram = std::make_unique<Histogram>();
  for (const std::int64_t value : values) histogram->add(value);
  return histogram;
}

// Latencies as they come: a body around 5 us and a tail over all magnitudes.
std::vector<std::int64_t> latencies(std::uint64_t seed, std::size_t count) {
  SplitMix random(seed);
  std::vector<std::int64_t> values;
  for (std::size_t index = 0; index < count; ++index) {
    const bool tail = random.below(20) == 0;
    values.push_back(tail ? random.magnitude() : static_cast<std::int64_t>(3'000 + random.below(4'000)));
  }
  return values;
}

std::uint64_t in_bins(const Histogram& histogram) {
  std::uint64_t sum = 0;
  for (std::size_t bin = 0; bin < Histogram::bin_count; ++bin) sum += histogram.in_bin(bin);
  return sum;
}

TEST_CASE("the bins lie side by side from 0 to the greatest value, none wider than 1/128 of its edge") {
  CHECK(Histogram::lower_edge(0) == 0);
  CHECK(Histogram::last_value(Histogram::bin_count - 1) == INT64_MAX);
  CHECK(Histogram::bin_of(INT64_MAX) == Histogram::bin_count - 1);
  for (std::size_t bin = 0; bin < Histogram::bin_count; ++bin) {
    const std::int64_t lower = Histogram::lower_edge(bin);
    const std::int64_t last = Histogram::last_value(bin);
    REQUIRE(Histogram::bin_of(lower) == bin);
    REQUIRE(Histogram::bin_of(last) == bin);
    REQUIRE(static_cast<double>(last - lower) <= static_cast<double>(lower) / 128);
    if (bin > 0) REQUIRE(lower == Histogram::last_value(bin - 1) + 1);
  }
}

TEST_CASE("no value is lost, and the extremes are exact") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::int64_t> values = latencies(seed, 2'000);
    values.push_back(-static_cast<std::int64_t>(seed) - 1);
    const auto histogram = made_of(values);
    REQUIRE(histogram->count() == values.size());
    REQUIRE(in_bins(*histogram) + histogram->negatives() == values.size());
    REQUIRE(histogram->negatives() == 1);
    REQUIRE(histogram->min() == *std::min_element(values.begin(), values.end()));
    REQUIRE(histogram->max() == *std::max_element(values.begin(), values.end()));
  }
  const auto extremes = made_of({INT64_MIN, -1, 0, INT64_MAX});
  CHECK(extremes->negatives() == 2);
  CHECK(extremes->min() == INT64_MIN);
  CHECK(extremes->max() == INT64_MAX);
  CHECK(extremes->in_bin(0) == 1);
}

TEST_CASE("the value at every rank is not below the true one and at most 0.8 % above") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    std::vector<std::int64_t> values = latencies(seed, 3'000);
    const auto histogram = made_of(values);
    std::sort(values.begin(), values.end());
    for (std::size_t rank = 1; rank <= values.size(); ++rank) {
      const std::int64_t truth = values[rank - 1];
      const std::int64_t said = histogram->value_at_rank(rank);
      REQUIRE(said >= truth);
      REQUIRE(static_cast<double>(said - truth) <= 0.008 * static_cast<double>(truth));
    }
    REQUIRE(histogram->value_at_rank(values.size()) == values.back());
  }
}

TEST_CASE("a quantile is given only where enough samples lie beyond it") {
  std::vector<std::int64_t> values(1'000);
  std::iota(values.begin(), values.end(), 1);
  const auto histogram = made_of(values);
  CHECK(histogram->quantile(0.1) == 100);
  CHECK(histogram->quantile(0.99).has_value());
  CHECK_FALSE(histogram->quantile(0.991).has_value());
  CHECK_FALSE(histogram->quantile(0.999).has_value());
  CHECK(histogram->quantile(1, 0) == 1'000);
  CHECK(histogram->quantile(0, 0) == 1);
  CHECK_FALSE(Histogram().quantile(0.5, 0).has_value());
}

TEST_CASE("ranks among negative values answer with the minimum") {
  const auto histogram = made_of({-5, -3, 10});
  CHECK(histogram->value_at_rank(2) == -5);
  CHECK(histogram->value_at_rank(3) == 10);
}

TEST_CASE("merging parts is one pass over the whole") {
  for (std::uint64_t seed = 200; seed < 210; ++seed) {
    std::vector<std::int64_t> values = latencies(seed, 4'000);
    values[seed % 4'000] = -7;
    values.back() = -9;
    const auto whole = made_of(values);
    auto merged = std::make_unique<Histogram>();
    SplitMix random(seed);
    for (std::size_t begin = 0; begin < values.size();) {
      const std::size_t end = std::min(values.size(), begin + random.below(900));
      merged->merge(*made_of({values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(end)}));
      begin = end;
    }
    for (std::size_t bin = 0; bin < Histogram::bin_count; ++bin)
      REQUIRE(merged->in_bin(bin) == whole->in_bin(bin));
    REQUIRE(merged->count() == whole->count());
    REQUIRE(merged->negatives() == 2);
    REQUIRE(merged->min() == whole->min());
    REQUIRE(merged->max() == whole->max());
    REQUIRE(merged->mean() == doctest::Approx(whole->mean()).epsilon(1e-12));
    REQUIRE(merged->stddev() == doctest::Approx(whole->stddev()).epsilon(1e-9));
  }
}

TEST_CASE("mean and deviation are of the values, not of the bins") {
  const auto histogram = made_of({1'000'001, 1'000'003, 1'000'008});
  CHECK(histogram->mean() == doctest::Approx(1'000'004.0));
  CHECK(histogram->stddev() == doctest::Approx(std::sqrt(13.0)));
  CHECK(made_of({7})->stddev() == 0);
}

TEST_CASE("the picture for a terminal is bounded and its counts add up") {
  for (std::uint64_t seed = 300; seed < 320; ++seed) {
    const std::vector<std::int64_t> values = latencies(seed, 1 + seed * 7);
    const auto histogram = made_of(values);
    const std::string text = text_histogram(*histogram);
    REQUIRE(std::count(text.begin(), text.end(), '\n') <= 25);
    std::uint64_t sum = 0;
    const std::size_t column = text.find("samples");
    for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1) {
      sum += std::stoull(text.substr(at + column));
    }
    REQUIRE(sum == values.size());
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      REQUIRE(text.find('\n', begin) - begin <= 80);
    }
  }
  CHECK(text_histogram(Histogram()).empty());
}

TEST_CASE("a single worst value among a million shows a mark of its own") {
  auto histogram = made_of({33'000'000});
  for (int index = 0; index < 1'000'000; ++index) histogram->add(5'000 + index % 100);
  const std::string text = text_histogram(*histogram);
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  CHECK(last.find("33.0 ms") != std::string::npos);
  CHECK(last.find("1  #") != std::string::npos);
}

}  // namespace
}  // namespace howlate
