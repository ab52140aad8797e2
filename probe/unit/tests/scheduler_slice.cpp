// Where a run among equals begins and ends, with made readings, and what a nice value is worth.
#include "tests/scheduler_slice.hpp"

#include <doctest/doctest.h>

#include "tests/scheduler_shares.hpp"

namespace howlate {
namespace {

TEST_CASE(
    "slice: a run is from the first reading after an equal had the CPU to the last one before it has it "
    "again") {
  Runs runs(0, 5);
  CHECK_FALSE(runs.take(100, 5));
  CHECK(runs.take(1'000'000, 9));  // the CPU came back
  CHECK_FALSE(runs.take(1'000'100, 9));
  CHECK_FALSE(runs.take(1'000'200, 9));
  CHECK(runs.take(1'500'200, 10));
  CHECK(runs.begin_ns() == 1'000'000);
  CHECK(runs.ran_ns() == 200);
  CHECK(runs.away_ns() == 500'000);
  CHECK(runs.stolen_ns() == 0);
}

TEST_CASE("slice: time in which neither the task nor an equal ran is no part of the run") {
  Runs runs(0, 0);
  constexpr std::int64_t least = Runs::least_ns;
  CHECK_FALSE(runs.take(least, 0));          // an interrupt: part of the run
  CHECK_FALSE(runs.take(2 * least + 1, 0));  // longer: stolen
  CHECK_FALSE(runs.take(2 * least + 51, 0));
  CHECK(runs.take(10 * least, 1));
  CHECK(runs.ran_ns() == least + 50);
  CHECK(runs.stolen_ns() == least + 1);
  CHECK(runs.away_ns() == 8 * least - 51);
  CHECK(runs.take(11 * least, 2));
  CHECK(runs.stolen_ns() == 0);  // each run has its own
}

TEST_CASE("slice: an equal that had the CPU but for a moment has ended the run all the same") {
  Runs runs(0, 0);
  CHECK_FALSE(runs.take(100, 0));
  CHECK(runs.take(200, 1));
  CHECK(runs.ran_ns() == 100);
  CHECK(runs.away_ns() == 100);
}

TEST_CASE("shares: each step of nice is worth a quarter, within the rounding of the kernel's table") {
  CHECK(nice_weight(0) == 1024);
  CHECK(nice_weight(nice_min) == 88761);
  CHECK(nice_weight(nice_max) == 15);
  for (int nice = nice_min; nice < nice_max; ++nice) {
    const double step = static_cast<double>(nice_weight(nice)) / static_cast<double>(nice_weight(nice + 1));
    CAPTURE(nice);
    CHECK(step > 1.18);
    CHECK(step < 1.31);
  }
}

TEST_CASE("shares: what a nice value is expected to give") {
  CHECK(expected_share(0) == 0.5);
  CHECK(expected_share(5) == doctest::Approx(335.0 / 1359.0));
  CHECK(expected_share(-5) == doctest::Approx(3121.0 / 4145.0));
  CHECK(expected_share(19) == doctest::Approx(15.0 / 1039.0));
}

}  // namespace
}  // namespace howlate
