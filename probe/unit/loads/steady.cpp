#include "loads/base/steady.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace howlate {
namespace {

constexpr std::int64_t window_ns = 31'250'000;

// Watches until the rate is known, for 160 windows (5 s) at most; the windows that it took.
template <class Total>
int watched(SteadyRate& rate, Total&& total) {
  rate.add(0, 0);
  int windows = 0;
  while (++windows < 160) {
    rate.add(windows * window_ns, total(windows));
    if (rate.known()) break;
  }
  return windows;
}

TEST_CASE("a rate that does not change is known after the fewest windows") {
  SteadyRate rate;
  CHECK(watched(rate, [](std::int64_t n) { return n * 1000; }) == 8);
  CHECK(rate.per_second() == doctest::Approx(32'000));
  CHECK(rate.error() == doctest::Approx(0));
}

TEST_CASE("the standard error is that of the mean of the windows") {
  SteadyRate rate;
  rate.add(0, 0);
  std::int64_t total = 0;
  for (int n = 1; n <= 8; ++n) rate.add(n * window_ns, total += n % 2 == 0 ? 120 : 80);
  CHECK(rate.error() == doctest::Approx(0.2 / std::sqrt(7.0)));  // deviation 20 of a mean of 100
}

TEST_CASE("windows of different lengths count by their length") {
  SteadyRate rate;
  std::int64_t time_ns = 0;
  rate.add(0, 0);
  for (int n = 1; n <= 8; ++n) {
    time_ns += n * window_ns;
    rate.add(time_ns, time_ns / 1000);
  }
  CHECK(rate.error() == doctest::Approx(0));
}

TEST_CASE("bursts longer than a window are watched until several of them are in") {
  // On for 400 ms and off for 400 ms: 12.8 windows each. After the fewest windows there was only the first of them.
  const auto total = [](std::int64_t n) {
    const std::int64_t at_ns = n * window_ns, whole = at_ns / 800'000'000, rest = at_ns % 800'000'000;
    return (whole * 400'000'000 + std::min<std::int64_t>(rest, 400'000'000)) / 1000;
  };
  SteadyRate rate;
  rate.add(0, 0);
  double least = 1e18, most = 0;
  for (int n = 1; n < 160; ++n) {
    rate.add(n * window_ns, total(n));
    if (n > 16) least = std::min(least, rate.per_second()), most = std::max(most, rate.per_second());
  }
  CHECK(rate.per_second() == doctest::Approx(500'000).epsilon(0.1));
  CHECK(most / least > 1.3);  // where one stops too early
}

TEST_CASE("what does nothing, or was looked at too few times, is not known") {
  SteadyRate rate;
  CHECK(!rate.known());
  CHECK(watched(rate, [](std::int64_t) { return std::int64_t{0}; }) == 160);
  SteadyRate few;
  few.add(0, 0);
  few.add(0, 5);  // no time has passed
  for (int n = 1; n < 8; ++n) few.add(n * window_ns, n);
  CHECK(std::isinf(few.error()));
}

}  // namespace
}  // namespace howlate
