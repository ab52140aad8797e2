#include "core/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace howlate {
namespace {

std::vector<std::int64_t> first_releases(Schedule schedule, int count) {
  std::vector<std::int64_t> releases;
  for (; count > 0; --count) {
    releases.push_back(schedule.release_ns());
    schedule.advance();
  }
  return releases;
}

TEST_CASE("a periodic release n is t0 + n * period, also after very long runs") {
  Schedule schedule({.t0_ns = 5'000, .period_ns = 20'000});
  CHECK(first_releases(schedule, 4) == std::vector<std::int64_t>{5'000, 25'000, 45'000, 65'000});
  for (std::int64_t n = 0; n < 1'000'000; ++n) schedule.advance();
  CHECK(schedule.index() == 1'000'000);
  CHECK(schedule.release_ns() == 5'000 + 1'000'000LL * 20'000);
  CHECK(schedule.offset_ns() == 1'000'000LL * 20'000);
  CHECK(schedule.pass(5'000 + 20'000LL * 200'000'000'000) ==
        200'000'000'000 - 1'000'000 + 1);  // 46 days of 20 us
  CHECK(schedule.release_ns() == 5'000 + 20'000LL * 200'000'000'001);
}

TEST_CASE(
    "dithered gaps come from the seed alone, lie in [0.5, 1.5) periods, and are the period on average") {
  for (const std::int64_t period : {std::int64_t{2}, std::int64_t{1'000'000}, std::int64_t{3'000'000'001}}) {
    const ScheduleSpec spec{.t0_ns = 77, .period_ns = period, .dither = true, .seed = 4711};
    const auto releases = first_releases(Schedule(spec), 20'001);
    CHECK(releases == first_releases(Schedule(spec), 20'001));
    double squares = 0;
    for (std::size_t n = 1; n < releases.size(); ++n) {
      const std::int64_t gap = releases[n] - releases[n - 1];
      REQUIRE(gap >= period / 2);
      REQUIRE(gap < period + (period + 1) / 2);
      squares += std::pow(static_cast<double>(gap - period) / static_cast<double>(period), 2);
    }
    if (period == 2) continue;  // two steps are no uniform distribution
    const double mean = static_cast<double>(releases.back() - 77) / 20'000 / static_cast<double>(period);
    CHECK(std::abs(mean - 1) < 4 * std::sqrt(1.0 / 12 / 20'000));
    CHECK(squares / 20'000 == doctest::Approx(1.0 / 12).epsilon(0.05));
  }
}

TEST_CASE("another seed draws other gaps") {
  ScheduleSpec spec{.t0_ns = 0, .period_ns = 1'000'000, .dither = true, .seed = 1};
  const auto one = first_releases(Schedule(spec), 10);
  spec.seed = 2;
  CHECK(one != first_releases(Schedule(spec), 10));
}

TEST_CASE(
    "a dithered gap is half the period plus splitmix64's upper half of it, as any reader can draw it again") {
  // splitmix64 of seed 0 starts with e220a8397b1dcdaf, 6e789e6aa1b965f4
  const auto releases =
      first_releases(Schedule({.t0_ns = 0, .period_ns = 1'000'000, .dither = true, .seed = 0}), 3);
  CHECK(releases[1] == 500'000 + (1'000'000LL * 0xe220a839LL >> 32));
  CHECK(releases[2] - releases[1] == 500'000 + (1'000'000LL * 0x6e789e6aLL >> 32));
}

TEST_CASE(
    "windows leave out the off time after each on time of schedule, also where a period spans several") {
  const ScheduleSpec spec{.t0_ns = 1'000, .period_ns = 200, .window_on_ns = 500, .window_off_ns = 500};
  CHECK(first_releases(Schedule(spec), 7) ==
        std::vector<std::int64_t>{1'000, 1'200, 1'400, 2'100, 2'300, 3'000, 3'200});
  const ScheduleSpec wide{.t0_ns = 0, .period_ns = 1'200, .window_on_ns = 500, .window_off_ns = 500};
  CHECK(first_releases(Schedule(wide), 3) == std::vector<std::int64_t>{0, 2'200, 4'400});
}

TEST_CASE("no release lies in an off window, dithered or not") {
  for (const bool dither : {false, true}) {
    Schedule schedule({.t0_ns = 10'000,
                       .period_ns = 20'000,
                       .dither = dither,
                       .seed = 9,
                       .window_on_ns = 500'000,
                       .window_off_ns = 500'000});
    for (int n = 0; n < 1'000; ++n, schedule.advance()) REQUIRE(schedule.offset_ns() % 1'000'000 < 500'000);
  }
}

TEST_CASE("passing, walking and counting from the start agree") {
  for (const bool dither : {false, true})
    for (const std::int64_t window : {std::int64_t{0}, std::int64_t{3'000}})
      for (std::int64_t instant = 900; instant < 30'000; instant += 137) {
        const ScheduleSpec spec{.t0_ns = 1'000,
                                .period_ns = 300,
                                .dither = dither,
                                .seed = 3,
                                .window_on_ns = window,
                                .window_off_ns = window};
        Schedule passed(spec), walked(spec);
        while (walked.release_ns() <= instant) walked.advance();
        const std::int64_t count = passed.pass(instant);
        REQUIRE(count == walked.index());
        REQUIRE(passed.index() == walked.index());
        REQUIRE(passed.release_ns() == walked.release_ns());
        REQUIRE(passed.due_by(instant) == count);
        REQUIRE(passed.pass(instant) == 0);
      }
}

TEST_CASE("near the end of 64 bits the schedule stops coming due instead of wrapping") {
  const std::int64_t far = std::int64_t{1} << 62U;
  CHECK(first_releases(Schedule({.t0_ns = far, .period_ns = 1'000}), 2) ==
        std::vector<std::int64_t>{far, far + 1'000});
  for (const bool dither : {false, true})
    for (const std::int64_t window : {std::int64_t{0}, std::int64_t{4'000}}) {
      const ScheduleSpec spec{.t0_ns = INT64_MAX - 2'500,
                              .period_ns = 1'000,
                              .dither = dither,
                              .seed = 1,
                              .window_on_ns = window,
                              .window_off_ns = window};
      Schedule schedule(spec);
      std::int64_t before = 0;
      for (int n = 0; n < 10; ++n, schedule.advance()) {
        REQUIRE(schedule.release_ns() >= before);
        before = schedule.release_ns();
      }
      CHECK(before == INT64_MAX);
      Schedule all(spec);
      CHECK(all.pass(INT64_MAX) == all.due_by(INT64_MAX));
      CHECK(all.release_ns() == INT64_MAX);
    }
}

TEST_CASE("an instant clear of the releases is as far from each as was asked, or in the middle between two") {
  Schedule wide({.t0_ns = 1'000'000, .period_ns = 10'000'000});
  CHECK(clear_of_releases(wide, 0, 500'000) == 0);
  CHECK(clear_of_releases(wide, 600'000, 500'000) == 1'500'000);
  CHECK(clear_of_releases(wide, 1'000'000, 500'000) == 1'500'000);
  CHECK(clear_of_releases(wide, 1'400'000, 500'000) == 1'500'000);
  CHECK(clear_of_releases(wide, 3'000'000, 500'000) == 3'000'000);
  CHECK(clear_of_releases(wide, 10'700'000, 500'000) == 11'500'000);
  Schedule narrow({.t0_ns = 0, .period_ns = 100'000});
  CHECK(clear_of_releases(narrow, 50'000'000, 500'000) == 50'050'000);
  CHECK(clear_of_releases(narrow, 100'060'000, 500'000) == 100'150'000);
}

TEST_CASE("with dither too no release is nearer than half its gap, and the instant is soon") {
  const ScheduleSpec spec{.t0_ns = 7, .period_ns = 300'000, .dither = true, .seed = 3};
  Schedule schedule(spec);
  for (std::int64_t instant = 0; instant < 3'000'000'000; instant += 50'000'000) {
    const std::int64_t found = clear_of_releases(schedule, instant, 500'000);
    CHECK(found >= instant);
    CHECK(found - instant <= 2 * 450'000);
    Schedule near(spec);
    near.pass(found - 75'000);  // a quarter of a period: half of the shortest gap
    CHECK(near.release_ns() >= found + 75'000);
  }
}

}  // namespace
}  // namespace howlate
