// When a point among many tasks is one, and that a crowd comes and goes as it is told.
#include "tests/scheduler_tasks.hpp"

#include <doctest/doctest.h>

#include "sys/clock.hpp"

namespace howlate {
namespace {

constexpr TaskTimes sound = {100, 400, 420, 900, true, false};

TEST_CASE(
    "a point passes where a sleeping task was woken, did not run at once, and the next reading came after "
    "the leader's") {
  CHECK(sound.in_order());
  TaskTimes times = sound;
  times.was_asleep = false;
  CHECK(!times.in_order());
  times = sound;
  times.ran_early = true;
  CHECK(!times.in_order());
  times = sound;
  times.first_ns = 0;  // nobody's
  CHECK(!times.in_order());
  times.first_ns = 420;
  CHECK(!times.in_order());
  times = sound;
  times.woken_ns = 99;
  CHECK(!times.in_order());
}

TEST_CASE("only the first reading after the question is kept") {
  TaskMeeting meeting;
  meeting.first_reading();
  CHECK(meeting.first_ns.load() == 0);
  meeting.asked.store(true);
  meeting.first_reading();
  const std::int64_t first_ns = meeting.first_ns.load();
  CHECK(first_ns > 0);
  meeting.first_reading();
  CHECK(meeting.first_ns.load() == first_ns);
}

TEST_CASE("a crowd runs when it is told to, not before, and ends from sleep and from work") {
  for (const bool at_rest : {true, false}) {
    TaskMeeting meeting;
    Crowd crowd(meeting);
    REQUIRE(crowd.start(8, {{}, {}, 0, "unit/crowd", {}, 32U << 10U}, Root()).ok());
    CHECK(crowd.turns() == 0);
    crowd.run();
    while (crowd.turns() < 100) sleep_until_ns(monotonic_now_ns() + 100'000);
    if (at_rest) crowd.rest();
    crowd.end();
    const std::int64_t turns = crowd.turns();
    CHECK(turns >= 100);
    CHECK(crowd.turns() == turns);
  }
}

}  // namespace
}  // namespace howlate
