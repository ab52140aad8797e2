#include "timers/measure.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "timers/fake_sleep.hpp"

namespace howlate {
namespace {

using Numbers = std::vector<std::int64_t>;
constexpr ScheduleSpec every_1000{.t0_ns = 10'000, .period_ns = 1'000};

// `sleep` at latency 3 until its 12th activation, with a stall of 3,500 in the 4th wait.
template <LatePolicy policy, class Sleep>
void run_with_stall(FakeRun& run, Sleep& sleep) {
  sleep.wake_up_ns = 3;
  sleep.clock.stalls = {{12'500, 3'500}};
  run.loop.activations_wanted = 12;
  measure<policy>(run.loop, sleep);
}

TEST_CASE(
    "skip serves the oldest release, counts the others that passed, and goes on with the first in the "
    "future") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  run_with_stall<LatePolicy::skip>(run, sleep);
  CHECK(run.latencies() == Numbers{3, 3, 3, 3'003, 3, 3, 3, 3, 3, 3, 3, 3});
  CHECK(run.samples()[3].release == 3);
  CHECK(run.samples()[4].release == 7);
  CHECK(run.samples()[4].release_ns == 7'000);
  CHECK(run.samples()[3].overruns_before == 0);
  CHECK(run.samples()[4].overruns_before == 3);
  CHECK(run.loop.overruns == 3);
  CHECK(run.loop.activations == 12);
  CHECK(count_releases(run.loop) == 15);
  CHECK(run.loop.late_starts == 0);
  CHECK(run.loop.latency_ns_max == 3'003);
  CHECK(run.loop.release_at_max == 3);
  CHECK(run.loop.stop_reason == StopReason::activations);
}

TEST_CASE("backlog serves what passed at once and in order, each latency a period less") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  run_with_stall<LatePolicy::backlog>(run, sleep);
  CHECK(run.latencies() == Numbers{3, 3, 3, 3'003, 2'003, 1'003, 3, 3, 3, 3, 3, 3});
  for (std::size_t n = 0; n < 12; ++n) CHECK(run.samples()[n].release == static_cast<std::int64_t>(n));
  CHECK(run.loop.late_starts == 3);
  CHECK(run.loop.overruns == 0);
  CHECK(count_releases(run.loop) == 12);
}

TEST_CASE("a timer that the kernel repeats finds back by the clock") {
  FakeClock clock(0);
  FakeRun skipping(clock, every_1000);
  FakeRepeated sleep(clock, every_1000);
  run_with_stall<LatePolicy::skip>(skipping, sleep);
  CHECK(skipping.latencies() == Numbers{3, 3, 3, 3'003, 3, 3, 3, 3, 3, 3, 3, 3});
  CHECK(skipping.loop.overruns == 3);

  FakeClock again(0);
  FakeRun catching_up(again, every_1000);
  FakeRepeated other(again, every_1000);
  run_with_stall<LatePolicy::backlog>(catching_up, other);
  CHECK(catching_up.latencies() == Numbers{3, 3, 3, 3'003, 2'003, 1'003, 3, 3, 3, 3, 3, 3});
  CHECK(catching_up.loop.late_starts == 3);
}

TEST_CASE("the published loop never finds back, and what it lost is in the account") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakePublished sleep(clock, every_1000);
  run_with_stall<LatePolicy::as_published>(run, sleep);
  // The signals of 13,000 to 16,000 are one; the next comes at 17,000 and counts as the one of 14,000.
  CHECK(run.latencies() == Numbers{3, 3, 3, 3'003, 3'003, 3'003, 3'003, 3'003, 3'003, 3'003, 3'003, 3'003});
  CHECK(run.loop.activations == 12);
  CHECK(run.loop.overruns == 3);
  CHECK(count_releases(run.loop) == 15);
}

TEST_CASE("the published loop ends by time although its releases lag behind") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakePublished sleep(clock, every_1000);
  sleep.wake_up_ns = 3;
  clock.stalls = {{12'500, 3'500}};
  run.loop.end_ns = 20'000;
  measure<LatePolicy::as_published>(run.loop, sleep);
  CHECK(run.loop.stop_reason == StopReason::duration);
  CHECK(count_releases(run.loop) == 10);
  CHECK(run.loop.activations == 8);  // the one at 20,003 was waited for before the end
  CHECK(run.loop.overruns == 2);
}

TEST_CASE("a run by time ends before the release at its end, and counts what was due and not served") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  run.loop.end_ns = 15'000;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(count_releases(run.loop) == 5);
  CHECK(run.loop.activations == 5);
  CHECK(run.loop.overruns == 0);
  CHECK(run.loop.ended_ns == 5'000);
  CHECK(run.loop.stop_reason == StopReason::duration);

  for (const LatePolicy policy : {LatePolicy::skip, LatePolicy::backlog}) {  // a stall over the end
    FakeClock again(0);
    FakeRun late(again, every_1000);
    FakeSleep other(again);
    again.stalls = {{11'500, 50'000}};
    late.loop.end_ns = 15'000;
    late.loop.late_policy = policy;
    measure(late.loop, other);
    CHECK(late.latencies() == Numbers{0, 0, 49'500});  // the worst is not lost at the end
    CHECK(count_releases(late.loop) == 5);
    CHECK(late.loop.overruns == 2);
    CHECK(late.loop.stop_reason == StopReason::duration);
  }
}

TEST_CASE("the N-th activation ends a run, and releases that passed by then are overruns") {
  for (const LatePolicy policy : {LatePolicy::skip, LatePolicy::backlog}) {
    FakeClock clock(0);
    FakeRun run(clock, every_1000);
    FakeSleep sleep(clock);
    clock.stalls = {{11'500, 2'700}};
    run.loop.activations_wanted = 3;
    run.loop.late_policy = policy;
    measure(run.loop, sleep);
    CHECK(run.latencies() == Numbers{0, 0, 2'200});
    CHECK(run.loop.overruns == 2);
    CHECK(count_releases(run.loop) == 5);
    CHECK(run.loop.stop_reason == StopReason::activations);
  }
}

TEST_CASE("a stop ends the wait at that instant") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  clock.stop_at_ns = 12'400;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.loop.stop_reason == StopReason::stopped);
  CHECK(run.loop.ended_ns == 2'400);
  CHECK(count_releases(run.loop) == 3);
  CHECK(run.loop.activations == 3);
  CHECK(run.loop.early == 0);  // the kick of a stop is none
}

TEST_CASE("a stop before the first release leaves an empty account") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  clock.stop.store(true);
  measure<LatePolicy::backlog>(run.loop, sleep);
  CHECK(run.loop.stop_reason == StopReason::stopped);
  CHECK(count_releases(run.loop) == 0);
  CHECK(run.loop.activations == 0);
  CHECK(run.loop.overruns == 0);
}

TEST_CASE("a stop in the middle of a backlog leaves the rest as overruns") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  sleep.reading_ns = 100;
  clock.stalls = {{10'500, 6'000}};
  clock.stop_at_ns = 16'850;
  measure<LatePolicy::backlog>(run.loop, sleep);
  CHECK(run.loop.stop_reason == StopReason::stopped);
  CHECK(count_releases(run.loop) == 8);  // the account is closed at 17,000
  CHECK(run.loop.activations == 4);
  CHECK(run.loop.overruns == 4);
}

TEST_CASE("an early return waits again and is counted") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  sleep.early_at_ns = {9'000, 9'500, 11'001, 11'999, 13'000};
  run.loop.activations_wanted = 5;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.loop.early == 4);  // at 13,000 the release has come
  CHECK(run.latencies() == Numbers{0, 0, 0, 0, 0});
}

TEST_CASE("a sleep that fails ends the run as failed") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  sleep.fails_at_ns = 12'300;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.loop.stop_reason == StopReason::failed);
  CHECK(count_releases(run.loop) == 3);
  CHECK(run.loop.activations == 3);
}

TEST_CASE("a full ring drops samples, counts them, and hides no maximum") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000, 4);
  FakeSleep sleep(clock);
  clock.stalls = {{18'500, 700}};
  run.loop.activations_wanted = 10;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.samples().size() == 4);
  CHECK(run.loop.dropped == 6);
  CHECK(run.loop.activations == 10);
  CHECK(run.loop.latency_ns_max == 200);
  CHECK(run.loop.release_at_max == 9);
  CHECK(run.loop.live_activations->load() == 10);
  CHECK(run.loop.live_latency_ns_max.load() == 200);
}

TEST_CASE("what was dropped before a sample stands in it") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000, 2);
  FakeSleep sleep(clock);
  run.loop.activations_wanted = 5;
  run.loop.threshold_ns = 50;
  clock.stalls = {{13'500, 600}};
  run.loop.on_threshold_context = &run.ring;  // the recorder comes in the 5th activation
  run.loop.on_threshold = [](void* ring, const Sample&) { static_cast<Ring<Sample>*>(ring)->pop(2); };
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.loop.dropped == 3);
  run.loop.activations_wanted = 1;
  run.loop.schedule = Schedule({.t0_ns = 50'000, .period_ns = 1'000});
  measure<LatePolicy::skip>(run.loop, sleep);
  REQUIRE(run.samples().size() == 1);
  CHECK(run.samples()[0].dropped_before == 3);
}

struct Seen {
  FakeClock* clock;
  std::int64_t takes_ns;
  std::vector<Sample> samples;
  static void take(void* context, const Sample& sample) {
    auto& seen = *static_cast<Seen*>(context);
    seen.samples.push_back(sample);
    seen.clock->run_for(seen.takes_ns);
  }
};

TEST_CASE("with work the threshold is told before the work begins, and once") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  clock.stalls = {{8'500, 600}, {12'500, 551}, {14'500, 900}};
  run.loop.warm_up_ns = 2'000;  // the first stall is in it
  run.loop.threshold_ns = 50;
  run.loop.activations_wanted = 8;
  run.loop.work_iterations = 300;
  struct Told {
    const FakeClock* clock;
    std::vector<std::int64_t> at_ns;
  } told{&clock, {}};
  run.loop.on_threshold = [](void* context, const Sample& sample) {
    auto& one = *static_cast<Told*>(context);
    one.at_ns.push_back(one.clock->now_ns());
    CHECK(sample.release == 3);
    CHECK(sample.latency_ns == 51);
  };
  run.loop.on_threshold_context = &told;
  measure(run.loop, sleep);
  CHECK(told.at_ns == Numbers{13'051});
  CHECK(run.samples()[3].response_ns == 351);
}

TEST_CASE("the first latency above the threshold is told once, and ends the run only if it shall") {
  for (const bool stop : {false, true}) {
    FakeClock clock(0);
    FakeRun run(clock, every_1000);
    FakeSleep sleep(clock);
    clock.stalls = {{8'500, 600}, {12'500, 550}, {13'500, 551}, {15'500, 900}};
    run.loop.warm_up_ns = 2'000;  // the first stall is in it
    run.loop.threshold_ns = 50;
    run.loop.stop_at_threshold = stop;
    run.loop.activations_wanted = 8;
    Seen seen{&clock, 0, {}};
    run.loop.on_threshold = Seen::take;
    run.loop.on_threshold_context = &seen;
    measure(run.loop, sleep);
    REQUIRE(seen.samples.size() == 1);
    CHECK(seen.samples[0].release == 4);
    CHECK(seen.samples[0].latency_ns == 51);
    CHECK(run.loop.stop_reason == (stop ? StopReason::threshold : StopReason::activations));
    CHECK(run.loop.activations == (stop ? 5 : 8));
    CHECK(run.loop.warm_up.releases == 2);
    CHECK(run.loop.warm_up.activations == 2);
    CHECK(count_releases(run.loop) == run.loop.activations + run.loop.overruns);
    CHECK(run.loop.latency_ns_max == (stop ? 51 : 400));
  }
}

TEST_CASE("releases that pass while the threshold is told are accounted for") {
  for (const LatePolicy policy : {LatePolicy::skip, LatePolicy::backlog}) {
    FakeClock clock(0);
    FakeRun run(clock, every_1000);
    FakeSleep sleep(clock);
    Seen seen{&clock, 4'500, {}};
    run.loop.threshold_ns = -1;
    run.loop.on_threshold = Seen::take;
    run.loop.on_threshold_context = &seen;
    run.loop.activations_wanted = 7;
    run.loop.late_policy = policy;
    measure(run.loop, sleep);
    const bool skip = policy == LatePolicy::skip;
    CHECK(run.latencies() ==
          (skip ? Numbers{0, 0, 0, 0, 0, 0, 0} : Numbers{0, 3'500, 2'500, 1'500, 500, 0, 0}));
    CHECK(run.loop.overruns == (skip ? 4 : 0));
    CHECK(count_releases(run.loop) == (skip ? 11 : 7));
  }
}

TEST_CASE("work gives each activation a response time, and makes releases pass") {
  FakeClock clock(0);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  sleep.wake_up_ns = 5;
  run.loop.work_iterations = 300;
  run.loop.activations_wanted = 3;
  measure<LatePolicy::skip>(run.loop, sleep);
  for (const Sample& sample : run.samples()) {
    CHECK(sample.latency_ns == 5);
    CHECK(sample.response_ns == 305);
  }
  CHECK(run.loop.overruns == 0);

  FakeClock again(0);
  FakeRun longer(again, every_1000);
  FakeSleep other(again);
  longer.loop.work_iterations = 1'300;
  longer.loop.activations_wanted = 3;
  measure<LatePolicy::skip>(longer.loop, other);
  CHECK(longer.latencies() == Numbers{0, 0, 0});
  CHECK(longer.loop.overruns == 3);
  CHECK(count_releases(longer.loop) == 6);

  FakeClock third(0);
  FakeRun behind(third, every_1000);
  FakeSleep more(third);
  behind.loop.work_iterations = 1'300;
  behind.loop.activations_wanted = 4;
  measure<LatePolicy::backlog>(behind.loop, more);
  CHECK(behind.latencies() == Numbers{0, 300, 600, 900});
  CHECK(behind.samples()[3].response_ns == 2'200);
}

TEST_CASE("a start after the first release serves it late") {
  FakeClock clock(13'500);
  FakeRun run(clock, every_1000);
  FakeSleep sleep(clock);
  run.loop.activations_wanted = 2;
  measure<LatePolicy::skip>(run.loop, sleep);
  CHECK(run.latencies() == Numbers{3'500, 0});
  CHECK(run.loop.overruns == 3);
}

}  // namespace
}  // namespace howlate
