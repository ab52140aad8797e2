// A clock, stalls and two ways to sleep that exist in numbers only, for the loop's tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "timers/measure.hpp"

namespace howlate {

struct Stall {
  std::int64_t at_ns;
  std::int64_t length_ns;
};

// Goes on by what is asked of it, and by a stall whenever it passes the start of one: nothing runs meanwhile.
class FakeClock {
 public:
  explicit FakeClock(std::int64_t start_ns) : now_ns_(start_ns) {}

  std::deque<Stall> stalls;  // by start
  std::int64_t stop_at_ns = INT64_MAX;
  std::atomic<bool> stop{false};

  void run_until(std::int64_t instant_ns) {
    while (!stalls.empty() && stalls.front().at_ns <= std::max(instant_ns, now_ns_)) {
      now_ns_ = std::max(now_ns_, stalls.front().at_ns) + stalls.front().length_ns;
      stalls.pop_front();
    }
    now_ns_ = std::max(now_ns_, instant_ns);
    if (now_ns_ >= stop_at_ns) stop.store(true, std::memory_order_relaxed);
  }
  void run_for(std::int64_t duration_ns) { run_until(now_ns_ + duration_ns); }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

 private:
  std::int64_t now_ns_;
};

// What both have. A reading of the clock takes `reading_ns`; a unit of work one nanosecond.
struct FakeSleepBase {
  explicit FakeSleepBase(FakeClock& fake) : clock(fake) {}
  FakeClock& clock;
  std::int64_t reading_ns = 0;
  std::int64_t wake_up_ns = 0;  // from expiry to running
  int error = 0;

  std::int64_t now() {
    clock.run_for(reading_ns);
    return clock.now_ns();
  }
  std::int64_t end_of_loop() { return now(); }
  static bool early(std::int64_t release_ns, std::int64_t now_ns) { return now_ns < release_ns; }
  static std::uint32_t flags() { return 0; }
  void work(std::int64_t iterations) { clock.run_for(iterations); }
};

// Armed with an absolute time for each activation.
struct FakeSleep : FakeSleepBase {
  using FakeSleepBase::FakeSleepBase;
  std::deque<std::int64_t> early_at_ns;  // instants at which a sleep is interrupted
  std::int64_t fails_at_ns = INT64_MAX;

  std::int64_t wait(std::int64_t release_ns) {
    while (!early_at_ns.empty() && early_at_ns.front() <= clock.now_ns()) early_at_ns.pop_front();
    std::int64_t until_ns = std::min(release_ns, clock.stop_at_ns);
    if (!early_at_ns.empty()) until_ns = std::min(until_ns, early_at_ns.front());
    if (fails_at_ns < until_ns) {
      until_ns = fails_at_ns;
      error = 22;
    }
    const bool slept = clock.now_ns() < until_ns;
    clock.run_until(until_ns);
    if (slept && until_ns == release_ns) clock.run_for(wake_up_ns);
    return now();
  }
};

// Repeated by the kernel: a signal that does not queue, re-armed ahead of "now" when it is taken.
struct FakeRepeated : FakeSleepBase {
  FakeRepeated(FakeClock& fake, const ScheduleSpec& spec)
      : FakeSleepBase(fake), period_ns(spec.period_ns), expiry_ns(spec.t0_ns) {}
  std::int64_t period_ns;
  std::int64_t expiry_ns;
  bool expired = true;

  void take_signal() {
    const std::int64_t until_ns = std::min(expiry_ns, clock.stop_at_ns);
    const bool slept = clock.now_ns() < until_ns;
    clock.run_until(until_ns);
    expired = clock.now_ns() >= expiry_ns;
    if (!expired) return;
    expiry_ns += ((clock.now_ns() - expiry_ns) / period_ns + 1) * period_ns;
    if (slept) clock.run_for(wake_up_ns);
  }
  std::int64_t wait(std::int64_t release_ns) {
    if (const std::int64_t before_ns = now(); before_ns >= release_ns) return before_ns;
    take_signal();
    return now();
  }
};

// The published loop's.
struct FakePublished : FakeRepeated {
  using FakeRepeated::FakeRepeated;
  std::int64_t wait(std::int64_t /*release_ns*/) {
    take_signal();
    return now();
  }
  [[nodiscard]] bool early(std::int64_t /*release_ns*/, std::int64_t /*now_ns*/) const { return !expired; }
};

// How many releases were due when the account was closed, counted one by one or by division from the start.
inline std::int64_t count_releases(const LoopContext& loop) {
  return Schedule(loop.schedule.spec()).due_by(loop.due_ns);
}

// A context with its ring.
struct FakeRun {
  explicit FakeRun(FakeClock& clock, const ScheduleSpec& spec, std::size_t capacity = 1U << 16U)
      : storage(capacity), ring(std::span(storage)) {
    loop.schedule = Schedule(spec);
    loop.ring = &ring;
    loop.stop = &clock.stop;
  }
  std::vector<Sample> storage;
  Ring<Sample> ring;
  LoopContext loop;

  [[nodiscard]] std::span<const Sample> samples() const { return ring.peek(); }
  [[nodiscard]] std::vector<std::int64_t> latencies() const {
    std::vector<std::int64_t> found;
    for (const Sample& sample : samples()) found.push_back(sample.latency_ns);
    return found;
  }
};

}  // namespace howlate
