#include "inject/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace howlate {
namespace {

constexpr std::int64_t us = 1'000;

std::vector<std::int64_t> releases_of(const ScheduleSpec& spec, std::int64_t count) {
  std::vector<std::int64_t> releases;
  Schedule schedule(spec);
  for (; count > 0; --count, schedule.advance()) releases.push_back(schedule.offset_ns());
  return releases;
}

TEST_CASE("one delay in so many releases, each with its size within the range") {
  for (const std::uint64_t seed : {1U, 2U, 4711U}) {
    const InjectSpec spec{.sizes = {20 * us, 500 * us}, .every = 3, .seed = seed};
    const ScheduleSpec schedule{.period_ns = 1000 * us, .dither = true, .seed = seed};
    const auto planned = plan_delays(spec, schedule, 3 * 1000 + 1);
    const auto releases = releases_of(schedule, 3 * 1000 + 1);
    REQUIRE(planned.size() == 1000);
    std::size_t aimed = 0;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const PlannedDelay& one = planned[i];
      CHECK(one.release == 3 * static_cast<std::int64_t>(i + 1));
      const std::int64_t release_ns = releases[static_cast<std::size_t>(one.release)];
      const std::int64_t before_ns = releases[static_cast<std::size_t>(one.release - 1)];
      CHECK(one.release_ns == release_ns);
      CHECK(one.size_ns >= 20 * us);
      CHECK(one.size_ns <= 500 * us);
      CHECK(one.begin_ns >= before_ns + inject_clear_ns);
      if (one.aimed) {
        ++aimed;
        CHECK(one.begin_ns < release_ns);
        CHECK(one.begin_ns + one.size_ns >= release_ns);
      } else {
        CHECK(one.begin_ns + one.size_ns <= release_ns - inject_clear_ns);
      }
    }
    CHECK(aimed > 800);
    CHECK(aimed < 950);  // one in eight is aimed at none
  }
}

TEST_CASE("the delays follow from the seed alone") {
  const ScheduleSpec schedule{.period_ns = 1000 * us};
  const auto begins = [&](std::uint64_t seed) {
    std::vector<std::int64_t> all;
    for (const PlannedDelay& one :
         plan_delays({.sizes = {us, 400 * us}, .every = 2, .seed = seed}, schedule, 200))
      all.push_back(one.begin_ns);
    return all;
  };
  CHECK(begins(7) == begins(7));
  CHECK(begins(7) != begins(8));
}

TEST_CASE("delays keep a round of turns farther from the releases that they are not aimed at") {
  constexpr std::int64_t round_ns = 20 * us;
  const InjectSpec spec{.sizes = {20 * us, 500 * us}, .every = 1, .seed = 5, .round_ns = round_ns};
  const ScheduleSpec schedule{.period_ns = 600 * us, .dither = true, .seed = 5};
  const auto releases = releases_of(schedule, 2000);
  std::size_t near = 0;
  for (const PlannedDelay& one : plan_delays(spec, schedule, 2000)) {
    const std::int64_t before_ns = one.begin_ns - releases[static_cast<std::size_t>(one.release - 1)];
    CHECK(before_ns >= inject_clear_ns + round_ns);
    if (before_ns < inject_clear_ns + 2 * round_ns) ++near;
    if (!one.aimed) CHECK(one.begin_ns + one.size_ns <= one.release_ns - inject_clear_ns - round_ns);
  }
  CHECK(near > 0);
}

TEST_CASE("where releases are too close there is no delay") {
  CHECK(plan_delays({.sizes = {us, us}}, {.period_ns = 2 * inject_clear_ns}, 100).empty());
  CHECK(plan_delays({.sizes = {us, us}}, {.period_ns = 2 * inject_clear_ns + us}, 100).size() == 99);
  CHECK(plan_delays({.sizes = {us, us}}, {.period_ns = 1000 * us}, 0).empty());
}

TEST_CASE("a size is one length or a range of lengths") {
  CHECK(parse_inject_sizes("100us")->least_ns == 100 * us);
  CHECK(parse_inject_sizes("100us")->most_ns == 100 * us);
  CHECK(parse_inject_sizes("20us-500us")->least_ns == 20 * us);
  CHECK(parse_inject_sizes("20us-500us")->most_ns == 500 * us);
  for (const auto* const wrong : {"", "-", "20", "500us-20us", "1us-2us-3us", "999ns", "11ms", "-20us"}) {
    CAPTURE(wrong);
    const auto sizes = parse_inject_sizes(wrong);
    REQUIRE(!sizes.ok());
    CHECK(sizes.error().code == ExitCode::usage);
  }
}

}  // namespace
}  // namespace howlate
