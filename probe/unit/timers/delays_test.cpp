// Sleeps without a schedule, on a clock that is made up.
#include <doctest/doctest.h>

#include <vector>

#include "timers/measure.hpp"

namespace howlate {
namespace {

// A clock that goes on by 10 at each reading; a sleep that ends `late` after what was asked, or early first.
struct MadeUp {
  std::int64_t clock = 0;
  std::vector<std::int64_t> late;  // of each wait
  std::size_t waits = 0;
  int error = 0;
  std::int64_t now() { return clock += 10; }
  std::int64_t end_of_loop() { return now(); }
  std::int64_t wait(std::int64_t release_ns) { return clock = release_ns + late[waits++]; }
  static bool early(std::int64_t release_ns, std::int64_t now_ns) { return now_ns < release_ns; }
  [[nodiscard]] std::uint32_t flags() const { return waits == 2 ? row_switched_out : 0U; }
  static void work(std::int64_t) {}
};

struct Delays {
  std::vector<std::int64_t> planned, delay, flags;
  DelayRun run;
  LoopContext loop;
  std::atomic<bool> stop{false};
  std::int64_t made = 0;

  explicit Delays(std::size_t wanted) : planned(wanted), delay(wanted), flags(wanted) {
    run.sleep_ns = 5000;
    run.planned_ns = planned;
    run.delay_ns = delay;
    run.flags = flags;
    run.made = [](void* context, std::int64_t count) { *static_cast<std::int64_t*>(context) = count; };
    run.context = &made;
    loop.stop = &stop;
    loop.delays = &run;
  }
};

TEST_CASE("each sleep is planned from the clock just before it, and late by what the sleep was") {
  Delays delays(3);
  MadeUp sleep;
  sleep.late = {700, 100, 0};
  measure(delays.loop, sleep);
  CHECK(delays.delay == std::vector<std::int64_t>{700, 100, 0});
  // One reading at the start (10), then one before each sleep.
  CHECK(delays.planned == std::vector<std::int64_t>{5020, 10'730, 15'840});
  CHECK(delays.flags == std::vector<std::int64_t>{0, row_switched_out, 0});
  CHECK(delays.made == 3);
  CHECK(delays.loop.stop_reason == StopReason::activations);
}

TEST_CASE("the account begins after the timer was set up") {
  Delays delays(1);
  delays.loop.before = {};
  MadeUp sleep;
  sleep.late = {0};
  measure(delays.loop, sleep);
  CHECK(delays.loop.before.minor_faults > 0);  // this thread's own, until then
}

TEST_CASE("a sleep that ends early is slept on, and counted") {
  Delays delays(1);
  MadeUp sleep;
  sleep.late = {-300, 40};
  measure(delays.loop, sleep);
  CHECK(delays.delay.front() == 40);
  CHECK(delays.loop.early == 1);
}

TEST_CASE("no sleep begins whose end is after the run's, or after a stop, or after a failure") {
  Delays timed(3);
  timed.run.end_ns = 10'000;
  MadeUp sleep;
  sleep.late = {700, 0, 0};
  measure(timed.loop, sleep);
  CHECK(timed.made == 1);
  CHECK(timed.loop.stop_reason == StopReason::duration);

  Delays stopped(3);
  stopped.stop = true;
  measure(stopped.loop, sleep);
  CHECK(stopped.made == 0);
  CHECK(stopped.loop.stop_reason == StopReason::stopped);

  Delays failed(3);
  MadeUp failing;
  failing.late = {-1};
  failing.error = 22;
  measure(failed.loop, failing);
  CHECK(failed.made == 0);
  CHECK(failed.loop.stop_reason == StopReason::failed);
}

}  // namespace
}  // namespace howlate
