// A CPU's counter beside the clock: times on the lines between the instants at which both were read.
#include "core/tick_times.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

constexpr std::int64_t far = TickTimes::apart_ns;

std::int64_t ns_of(const TickTimes& times, std::int64_t ticks) {
  const TickTimes::Line line = times.line_at(ticks);
  CHECK(line.has(ticks));
  return line.ns_of(ticks);
}

TEST_CASE("without two instants a tick is a nanosecond") {
  TickTimes times;
  CHECK(ns_of(times, 4711) == 4711);
  times.add(10, 20);
  CHECK(ns_of(times, 4711) == 4711);
}

TEST_CASE("between two instants a time is on their line, and beyond the first and the last as well") {
  TickTimes times;
  times.add(1000, 500);
  times.add(3000, 1300);
  CHECK(ns_of(times, 1000) == 500);
  CHECK(ns_of(times, 2000) == 900);
  CHECK(ns_of(times, 3000) == 1300);
  CHECK(ns_of(times, 4000) == 1700);
  CHECK(ns_of(times, 0) == 100);
  CHECK(ns_of(times, -1000) == -300);
}

TEST_CASE("where the clock is slewed each stretch has a rate of its own") {
  TickTimes times;
  times.add(0, 0);
  times.add(2 * far, far);
  times.add(4 * far, 3 * far);
  CHECK(ns_of(times, far) == far / 2);
  CHECK(ns_of(times, 3 * far) == 2 * far);
  CHECK(ns_of(times, 5 * far) == 4 * far);
}

TEST_CASE("an instant too near to the one before, or not after it, turns no line") {
  TickTimes times;
  times.add(0, 0);
  times.add(2 * far, far);
  times.add(2 * far + 200, far + 5'000);
  CHECK(ns_of(times, 4 * far) == 2 * far);
  times.add(90, far * 9);
  CHECK(ns_of(times, 4 * far) == 2 * far);
}

TEST_CASE("a second instant that is too near serves until there is a better one") {
  TickTimes times;
  times.add(0, 0);
  times.add(200, 110);
  CHECK(ns_of(times, 100) == 55);
  times.add(2 * far, far);
  CHECK(ns_of(times, 100) == 50);
}

TEST_CASE("the last instants are kept") {
  TickTimes times;
  times.add(-9 * far, -far);
  for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(TickTimes::instants_max); ++i)
    times.add(i * 3 * far, i * far);
  const std::int64_t end = 9 * static_cast<std::int64_t>(TickTimes::instants_max) * far;
  CHECK(ns_of(times, end) == end / 3);
  CHECK(ns_of(times, -9 * far) == -3 * far);  // the line of another rate is gone
}

TEST_CASE("what disturbed a reading is left out, but not for long") {
  TickTimes times;
  times.add({1000, 500, 1040});
  CHECK(ns_of(times, 1020) == 1020);  // one is no line
  CHECK_FALSE(times.is_good({0, 0, 100}));
  CHECK(times.is_good({0, 0, 80}));
  CHECK_FALSE(times.is_good({80, 0, 0}));
  times.add({2 * far + 1000, far + 500, 2 * far + 1040});
  times.add({4 * far, 9 * far, 4 * far + 200});  // too long
  times.add({4 * far + 40, 9 * far, 4 * far});   // backwards
  CHECK(ns_of(times, 4 * far + 1020) == 2 * far + 500);
  const std::int64_t later = TickTimes::old_ns;
  times.add({2 * later + 900, later + far + 500, 2 * later + 1140});
  CHECK(ns_of(times, 2 * later + 1020) == later + far + 500);
}

TEST_CASE("a day's ticks are told to the nanosecond") {
  TickTimes times;
  constexpr std::int64_t day = 86'400'000'000'000;
  times.add(3 * day, day);
  times.add(3 * day + 3 * far, day + far);
  CHECK(ns_of(times, 3 * day + far) == day + far / 3);
}

}  // namespace
}  // namespace howlate
