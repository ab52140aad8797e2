// Stalls of any length at any moment, whatever ends the run: every release is accounted for.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "timers/fake_sleep.hpp"

namespace howlate {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(int many) { return between(1, many) == 1; }

 private:
  std::mt19937_64 engine_;
};

struct Case {
  ScheduleSpec spec;
  std::deque<Stall> stalls;
  std::deque<std::int64_t> early_at_ns;
  std::int64_t start_ns, end_ns, stop_at_ns, wanted, work, reading_ns, wake_up_ns;
  std::size_t capacity;
};

Case draw_case(Draw& draw, bool repeated) {
  Case drawn{};
  const std::int64_t period = draw.between(50, 2'000);
  const std::int64_t t0 = draw.one_in(10) ? (std::int64_t{1} << 62U) : draw.between(0, 100'000);
  drawn.spec = {.t0_ns = t0,
                .period_ns = period,
                .dither = !repeated && draw.one_in(2),
                .seed = static_cast<std::uint64_t>(draw.between(0, INT64_MAX))};
  if (!repeated && draw.one_in(4)) {
    drawn.spec.window_on_ns = period * draw.between(1, 20);
    drawn.spec.window_off_ns = period * draw.between(1, 20);
  }
  const std::int64_t length = period * draw.between(0, 300);
  drawn.start_ns = t0 - draw.between(0, 3 * period) + (draw.one_in(5) ? 4 * period : 0);
  std::int64_t at = drawn.start_ns;
  for (std::int64_t left = draw.between(0, 12); left > 0; --left) {
    at += draw.between(0, 40 * period);
    const std::int64_t stall = draw.one_in(3) ? draw.between(0, 100 * period) : draw.between(0, 2 * period);
    drawn.stalls.push_back({at, stall});
    at += stall;
  }
  at = drawn.start_ns;
  for (std::int64_t left = draw.between(0, 20); left > 0; --left)
    drawn.early_at_ns.push_back(at += draw.between(1, 20 * period));
  drawn.end_ns = drawn.stop_at_ns = drawn.wanted = INT64_MAX;
  const std::int64_t ending = draw.between(1, 3);
  if (ending == 1 || draw.one_in(4)) drawn.end_ns = t0 + length;
  if (ending == 2 || draw.one_in(4)) drawn.stop_at_ns = drawn.start_ns + length;
  if (ending == 3 || draw.one_in(4)) drawn.wanted = draw.between(0, 300);
  drawn.work = draw.one_in(3) ? draw.between(1, 2 * period) : 0;
  drawn.reading_ns = draw.one_in(2) ? draw.between(1, 9) : 0;
  drawn.wake_up_ns = draw.between(0, period);
  drawn.capacity = draw.one_in(4) ? 16 : 4096;
  return drawn;
}

template <LatePolicy policy, class Sleep>
void run_case(const Case& drawn, FakeRun& run, Sleep& sleep) {
  sleep.clock.stalls = drawn.stalls;
  sleep.clock.stop_at_ns = drawn.stop_at_ns;
  sleep.reading_ns = drawn.reading_ns;
  sleep.wake_up_ns = drawn.wake_up_ns;
  run.loop.end_ns = drawn.end_ns;
  run.loop.activations_wanted = drawn.wanted;
  run.loop.work_iterations = drawn.work;
  measure<policy>(run.loop, sleep);
}

// The releases of the whole schedule that were due by the end, listed one by one.
std::vector<std::int64_t> due_releases(const Case& drawn, const LoopContext& loop) {
  std::vector<std::int64_t> due;
  const std::int64_t ended_ns = drawn.spec.t0_ns + loop.ended_ns;
  for (Schedule walk(drawn.spec); walk.release_ns() <= ended_ns && walk.release_ns() < drawn.end_ns;
       walk.advance())
    due.push_back(walk.release_ns());
  return due;
}

void check_account(const Case& drawn, const FakeRun& run) {
  const LoopContext& loop = run.loop;
  const auto due = due_releases(drawn, loop);
  REQUIRE(count_releases(loop) == static_cast<std::int64_t>(due.size()));
  REQUIRE(count_releases(loop) == loop.activations + loop.overruns);
  REQUIRE(loop.activations == static_cast<std::int64_t>(run.samples().size()) + loop.dropped);
  REQUIRE(loop.live_activations->load() == loop.activations);
  REQUIRE((loop.stop_reason != StopReason::activations || loop.activations == drawn.wanted));
  REQUIRE(loop.activations <= drawn.wanted);
}

void check_samples(const Case& drawn, const FakeRun& run, LatePolicy policy) {
  const auto due = due_releases(drawn, run.loop);
  std::int64_t served_until_ns = drawn.start_ns;
  std::int64_t before = -1;
  for (const Sample& sample : run.samples()) {
    const std::int64_t release_ns = sample.release_ns + drawn.spec.t0_ns;
    REQUIRE(sample.release > before);
    REQUIRE(sample.latency_ns >= 0);
    REQUIRE(sample.release < static_cast<std::int64_t>(due.size()));
    REQUIRE(due[static_cast<std::size_t>(sample.release)] == release_ns);
    REQUIRE(release_ns + sample.latency_ns >= served_until_ns);
    if (policy == LatePolicy::skip && before >= 0) {  // the first in the future, nothing between left out
      REQUIRE(release_ns > served_until_ns);
      REQUIRE(sample.release - before - 1 ==
              sample.overruns_before -
                  (before - static_cast<std::int64_t>(&sample - run.samples().data()) + 1));
    }
    if (policy != LatePolicy::skip) REQUIRE(sample.release == before + 1);
    if (policy != LatePolicy::skip) REQUIRE(sample.overruns_before == 0);
    served_until_ns = release_ns + (drawn.work != 0 ? sample.response_ns : sample.latency_ns);
    before = sample.release;
  }
}

TEST_CASE("whatever stalls and however it ends, every release of an armed timer is accounted for") {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Case drawn = draw_case(draw, false);
    FakeClock clock(drawn.start_ns);
    FakeRun run(clock, drawn.spec, drawn.capacity);
    FakeSleep sleep(clock);
    sleep.early_at_ns = drawn.early_at_ns;
    const bool skip = seed % 2 == 0;
    skip ? run_case<LatePolicy::skip>(drawn, run, sleep) : run_case<LatePolicy::backlog>(drawn, run, sleep);
    check_account(drawn, run);
    check_samples(drawn, run, skip ? LatePolicy::skip : LatePolicy::backlog);
    if (skip) REQUIRE(run.loop.late_starts == 0);
  }
}

TEST_CASE("and of a timer that the kernel repeats") {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Case drawn = draw_case(draw, true);
    FakeClock clock(drawn.start_ns);
    FakeRun run(clock, drawn.spec, drawn.capacity);
    FakeRepeated sleep(clock, drawn.spec);
    const bool skip = seed % 2 == 0;
    skip ? run_case<LatePolicy::skip>(drawn, run, sleep) : run_case<LatePolicy::backlog>(drawn, run, sleep);
    check_account(drawn, run);
    check_samples(drawn, run, skip ? LatePolicy::skip : LatePolicy::backlog);
  }
}

TEST_CASE("and of the published loop, whose latencies never fall below the time that it lost") {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Case drawn = draw_case(draw, true);
    FakeClock clock(drawn.start_ns);
    FakeRun run(clock, drawn.spec, drawn.capacity);
    FakePublished sleep(clock, drawn.spec);
    run_case<LatePolicy::as_published>(drawn, run, sleep);
    check_account(drawn, run);
    check_samples(drawn, run, LatePolicy::as_published);
    // All but one of the expiries of a stall are lost, and with them as many periods, for ever.
    const std::int64_t period = drawn.spec.period_ns;
    std::int64_t lost_ns = 0;
    for (const Sample& sample : run.samples()) {
      REQUIRE(sample.latency_ns >= lost_ns);
      lost_ns = std::max(lost_ns, (sample.latency_ns / period - 1) * period);
    }
  }
}

}  // namespace
}  // namespace howlate
