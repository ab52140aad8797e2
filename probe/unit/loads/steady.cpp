#include "loads/base/steady.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

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

// Thousand messages a second of hackbench:10 on a guest's one CPU, in virtual time, in windows of 31.25 ms: two runs.
constexpr std::array<int, 160> hackbench = {
    230, 100, 164, 184, 191, 170, 191, 183, 183, 0,   0,   0,   4,   26,  9,   13,  328, 458, 456, 306,
    61,  29,  58,  31,  30,  42,  441, 455, 429, 133, 150, 88,  70,  275, 364, 271, 103, 285, 155, 385,
    181, 209, 196, 232, 244, 201, 201, 186, 180, 170, 148, 153, 173, 153, 155, 212, 200, 205, 201, 223,
    214, 160, 152, 118, 130, 88,  98,  98,  101, 88,  71,  103, 78,  74,  96,  88,  77,  63,  0,   0,
    0,   166, 140, 166, 164, 166, 166, 166, 165, 227, 100, 0,   0,   8,   0,   8,   18,  33,  417, 460,
    447, 262, 54,  72,  13,  22,  51,  239, 460, 424, 241, 125, 51,  91,  221, 433, 256, 189, 189, 203,
    273, 195, 286, 210, 232, 182, 200, 241, 194, 205, 202, 179, 146, 177, 193, 175, 172, 176, 184, 203,
    201, 205, 191, 139, 127, 115, 120, 77,  93,  108, 99,  88,  97,  92,  88,  71,  86,  97,  64};

struct Scatter {
  double least = 1e9, most = 0;  // of the mean that is found, as a part of the true one
  double windows = 0;            // that it took, on average
};

// What is found from each window on as the first: with the fewest windows, or with `least` and until it is known.
Scatter scatter(int least, bool until_known) {
  double sum = 0;
  for (const int one : hackbench) sum += one;
  const double true_mean = 1000 * sum / static_cast<double>(hackbench.size());
  Scatter found;
  for (std::size_t phase = 0; phase < hackbench.size(); ++phase) {
    SteadyRate rate;
    rate.add(0, 0);
    std::int64_t total = 0;
    int windows = 0;
    while (windows < 160 && (windows < least || (until_known && !rate.known()))) {
      total +=
          hackbench[(phase + static_cast<std::size_t>(windows)) % hackbench.size()] * window_ns / 1'000'000;
      rate.add(++windows * window_ns, total);
    }
    found.least = std::min(found.least, rate.per_second() / true_mean);
    found.most = std::max(found.most, rate.per_second() / true_mean);
    found.windows += static_cast<double>(windows) / static_cast<double>(hackbench.size());
  }
  return found;
}

TEST_CASE("a reference of hackbench no longer depends on the phase of its run") {
  const Scatter fixed = scatter(8, false);
  CHECK(fixed.least < 0.2);  // a quarter of a second
  CHECK(fixed.most > 1.5);
  const Scatter known = scatter(32, true);  // Load::alone_ns
  CHECK(known.least > 0.8);
  CHECK(known.most < 1.4);
  CHECK(known.windows < 48);  // 1.5 s
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
