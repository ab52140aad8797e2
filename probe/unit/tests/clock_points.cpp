// What becomes of the test clock's readings.
#include "tests/clock_points.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

TEST_CASE(
    "each reading is compared with the one before, the first of a window with the one that is not stored") {
  std::vector<std::int64_t> readings = {110, 125, 500, 530, 535};
  std::vector<std::int64_t> times(5);
  const std::vector<ReadingWindow> windows = {{0, 1000, 100}, {2, 5000, 490}};
  difference(readings, times, windows, 900, 1);
  CHECK(readings == std::vector<std::int64_t>{10, 15, 10, 30, 5});
  CHECK(times == std::vector<std::int64_t>{110, 125, 4110, 4140, 4145});
}

TEST_CASE("a counter's steps become nanoseconds, each difference rounded by itself") {
  std::vector<std::int64_t> readings = {3, 6, 13};
  std::vector<std::int64_t> times(3);
  const std::vector<ReadingWindow> windows = {{0, 0, 0}};
  difference(readings, times, windows, 0, ns_per_step(0, 0, 1000, 3000));
  CHECK(readings == std::vector<std::int64_t>{1, 1, 2});
  CHECK(times == std::vector<std::int64_t>{1, 2, 4});
}

TEST_CASE("a counter that stood still has no rate and changes nothing") {
  CHECK(ns_per_step(0, 5, 1000, 5) == 1);
  CHECK(ns_per_step(1000, 5, 1000, 6) == 1);
}

TEST_CASE("a window in which no reading was stored is passed over") {
  std::vector<std::int64_t> readings = {7};
  std::vector<std::int64_t> times(1);
  const std::vector<ReadingWindow> windows = {{0, 0, 5}, {1, 50, 60}};
  difference(readings, times, windows, 0, 1);
  CHECK(readings.front() == 2);
}

TEST_CASE("what is above the limit is counted, and the deviation is of the others") {
  const std::vector<std::int64_t> values = {10, 12, 14, 26, 5000, 25};
  const LongDifferences found = count_long(values, 25);
  CHECK(found.above == 2);
  CHECK(found.stddev_without == doctest::Approx(6.7019898));  // of 10, 12, 14, 25
  CHECK(count_long({}, 25).stddev_without == 0);
}

}  // namespace
}  // namespace howlate
