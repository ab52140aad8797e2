// The loop over a real-time core's way to sleep, with a core that exists in numbers only.
#include "timers/core_sleep.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <vector>

#include "core/ring.hpp"

using namespace howlate;

namespace {

struct FakeCore {
  static constexpr std::string_view name = "fake";
  static inline std::int64_t left = 0;
  static inline int entered = 0;
  static inline int reads_that_work = 2;
  static void enter() { ++entered; }
  static Result<std::int64_t> switches() {
    if (reads_that_work-- > 0) return left;
    return broken("the count cannot be read");
  }
};

struct Wake {
  std::int64_t after_ns;  // the release; negative: before it
  int failed = 0;
  std::int64_t leaves = 0;  // the stage so many times meanwhile
};

struct FakeCoreSleep : CoreSleep<FakeCore> {
  using CoreSleep::CoreSleep;
  std::deque<Wake> wakes;
  std::int64_t clock_ns = 0;

  [[nodiscard]] std::int64_t now() const { return clock_ns; }
  [[nodiscard]] std::int64_t end_of_loop() const { return std::max(clock_ns, served_ns()); }
  std::int64_t wait(std::int64_t release_ns) {
    begin();
    const Wake wake = wakes.front();
    wakes.pop_front();
    FakeCore::left += wake.leaves;
    woken(wake.failed, release_ns);
    return clock_ns = release_ns + wake.after_ns;
  }
};

struct Loop {
  std::vector<Sample> storage{16};
  Ring<Sample> ring{std::span<Sample>(storage)};
  std::atomic<bool> stop{false};
  LoopContext loop;

  Status settled;

  explicit Loop(int reads_that_work = 2) {
    FakeCore::left = 7;  // from before the loop
    FakeCore::reads_that_work = reads_that_work;
    ScheduleSpec spec;
    spec.t0_ns = 1'000'000;
    spec.period_ns = 1'000;
    loop.schedule = Schedule(spec);
    loop.ring = &ring;
    loop.stop = &stop;
    loop.activations_wanted = 3;
  }
  void measured(const std::deque<Wake>& wakes) {
    FakeCoreSleep sleep(loop);
    sleep.wakes = wakes;
    measure(loop, sleep);
    settled = sleep.settle();
  }
  [[nodiscard]] std::int64_t releases() const { return Schedule(loop.schedule.spec()).due_by(loop.due_ns); }
};

}  // namespace

TEST_CASE("an answer before its release is kept, also as the last one") {
  Loop run;
  run.measured({{100}, {-300}, {-20}});
  CHECK(run.loop.activations == 3);
  CHECK(run.loop.early == 0);
  CHECK(run.loop.overruns == 0);
  CHECK(run.releases() == 3);
  CHECK(run.ring.peek()[1].latency_ns == -300);
}

TEST_CASE("a signal's wake-up is early, and waited for again") {
  Loop run;
  run.measured({{100}, {-500, EINTR}, {40}, {40}});
  CHECK(run.loop.activations == 3);
  CHECK(run.loop.early == 1);
}

TEST_CASE("switches of stage are counted from the first wait on") {
  Loop run;
  run.measured({{100}, {50, 0, 2}, {40}});
  CHECK(run.loop.core.switches == 2);
  Loop quiet;
  quiet.measured({{100}, {50}, {40}});
  CHECK(quiet.loop.core.switches == 0);
}

TEST_CASE("a count of switches that cannot be read is an error and no count of 0") {
  Loop unread_after(1);
  unread_after.measured({{100}, {50}, {40}});
  REQUIRE_FALSE(unread_after.settled.ok());
  CHECK(unread_after.settled.error().message == "the count cannot be read");
  CHECK(unread_after.loop.core.switches == -1);
}

TEST_CASE("a run whose first count cannot be read ends with its first wait") {
  Loop unread_before(0);
  unread_before.measured({{100}, {50}, {40}});
  CHECK_FALSE(unread_before.settled.ok());
  CHECK(unread_before.loop.stop_reason == StopReason::failed);
  CHECK(unread_before.loop.activations == 0);
}

TEST_CASE("the first error is the one that is told, whatever the calls after it return") {
  Loop run;
  FakeCoreSleep sleep(run.loop);
  sleep.wakes = {{100, EINVAL}, {50, EWOULDBLOCK}};
  sleep.wait(1'000);
  sleep.wait(2'000);
  CHECK(sleep.error == EINVAL);
}

TEST_CASE(
    "an end from outside makes the thread leave its stage once, which is no switch of the measurement") {
  Loop run;
  run.loop.stop_at_threshold = true;
  run.loop.threshold_ns = 99;
  run.measured({{50}, {100, 0, 1}});
  CHECK(run.loop.stop_reason == StopReason::threshold);
  CHECK(run.loop.core.switches == 0);
}
