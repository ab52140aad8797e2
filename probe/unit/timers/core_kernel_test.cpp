// What is made of the time stamps that a module stored.
#include "timers/core_kernel.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "core/ring.hpp"

using namespace howlate;

namespace {

constexpr std::int64_t t0_ns = 1'000'000;
constexpr std::int64_t period_ns = 1'000;

struct Run {
  std::vector<Sample> storage{64};
  Ring<Sample> ring{std::span<Sample>(storage)};
  std::atomic<bool> stop{false};
  LoopContext loop;

  explicit Run(LatePolicy policy = LatePolicy::skip, std::int64_t wanted = 10) {
    ScheduleSpec spec;
    spec.t0_ns = t0_ns;
    spec.period_ns = period_ns;
    loop.schedule = Schedule(spec);
    loop.ring = &ring;
    loop.stop = &stop;
    loop.late_policy = policy;
    loop.activations_wanted = wanted;
  }
  std::vector<Sample> samples() {
    std::vector<Sample> all;
    while (!ring.peek().empty()) {
      all.push_back(ring.peek().front());
      ring.pop(1);
    }
    return all;
  }
  [[nodiscard]] std::int64_t releases() const { return Schedule(loop.schedule.spec()).due_by(loop.due_ns); }
};

howlate_activation started(std::int64_t index, std::int64_t latency_ns) {
  const std::int64_t release_ns = t0_ns + index * period_ns;
  return {release_ns, release_ns + latency_ns};
}
howlate_activation left_out(std::int64_t index) {
  return {t0_ns + index * period_ns, 0};
}

}  // namespace

TEST_CASE("the module holds the releases of the longest study that comes with howlate, with some to spare") {
  const Run run(LatePolicy::skip, 1'000'000);
  CHECK(CoreActivations::releases_needed(run.loop) == 1'125'064);
  CHECK(CoreActivations::releases_needed(run.loop) <= HOWLATE_CORE_RELEASES_MAX);
}

TEST_CASE("each stored start is a sample, and a negative latency stays one") {
  Run run(LatePolicy::skip, 3);
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 300), started(1, -200), started(2, -40)};
  CHECK_FALSE(activations.take(over));
  activations.close(t0_ns + 2 * period_ns - 40, StopReason::activations);
  const auto samples = run.samples();
  REQUIRE(samples.size() == 3);
  CHECK(samples[1].latency_ns == -200);
  CHECK(samples[2].release == 2);
  CHECK(run.loop.latency_ns_max == 300);
  CHECK(run.releases() == run.loop.activations + run.loop.overruns);
}

TEST_CASE("releases that a stall left out are overruns, and all of them are accounted for") {
  Run run(LatePolicy::skip, 4);
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 10), started(1, 3'500), left_out(2),   left_out(3),
                                                left_out(4),    started(5, 20),    started(6, 20)};
  CHECK_FALSE(activations.take(over));
  activations.close(t0_ns + 60 * period_ns, StopReason::activations);
  CHECK(run.loop.activations == 4);
  CHECK(run.loop.overruns == 3);
  CHECK(run.releases() == 7);
  CHECK(run.samples()[2].overruns_before == 3);
}

TEST_CASE("a backlog counts the activations that began late") {
  Run run(LatePolicy::backlog, 4);
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 2'500), started(1, 1'600), started(2, 700),
                                                started(3, 10)};
  CHECK_FALSE(activations.take(over));
  activations.close(t0_ns + 3 * period_ns + 10, StopReason::activations);
  CHECK(run.loop.late_starts == 2);
  CHECK(run.loop.overruns == 0);
  CHECK(run.releases() == 4);
}

TEST_CASE("a run that was stopped counts what was due by then") {
  Run run(LatePolicy::skip, 100);
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 10), started(1, 10)};
  CHECK(activations.take(over));
  activations.close(t0_ns + 5 * period_ns, StopReason::stopped);
  CHECK(run.releases() == 6);
  CHECK(run.loop.overruns == 4);
}

TEST_CASE("a run for a duration fails where the planned releases do not reach its end") {
  Run run(LatePolicy::skip, 8);
  run.loop.end_ns = t0_ns + 100 * period_ns;
  CHECK(CoreActivations::releases_needed(run.loop) == 8 + 1 + 64);
  CoreActivations activations(run.loop);
  std::vector<howlate_activation> over;
  for (std::int64_t index = 0; index < 73; ++index)
    over.push_back(index % 10 == 0 && index < 70 ? started(index, 9'500) : left_out(index));
  CHECK(activations.take(over));
  CHECK(activations.reason_at_end(over.size()) == StopReason::failed);
  run.loop.end_ns = t0_ns + 73 * period_ns;  // the last planned release is the last before this end
  CHECK(activations.reason_at_end(over.size()) == StopReason::duration);
  activations.close(t0_ns, StopReason::duration);
  CHECK(run.loop.activations == 7);
  CHECK(run.releases() == run.loop.activations + run.loop.overruns);
}

TEST_CASE("a run fails where the core gives up before the last planned release") {
  Run run(LatePolicy::skip, 100);
  run.loop.end_ns = t0_ns + 10 * period_ns;
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 10), started(1, 10)};
  CHECK(activations.take(over));
  CHECK(activations.reason_at_end(10) == StopReason::failed);
}

TEST_CASE("a run for activations alone fails where the planned releases did not suffice") {
  Run run(LatePolicy::skip, 2);
  CoreActivations activations(run.loop);
  const std::vector<howlate_activation> over = {started(0, 1'500), left_out(1)};
  CHECK(activations.take(over));
  CHECK(activations.reason_at_end(over.size()) == StopReason::failed);
}

TEST_CASE("more releases are planned than activations are wanted, and none after the end") {
  Run run(LatePolicy::skip, 800);
  CHECK(CoreActivations::releases_needed(run.loop) == 964);
  run.loop.end_ns = t0_ns + 10 * period_ns;
  CHECK(CoreActivations::releases_needed(run.loop) == 10);
}
