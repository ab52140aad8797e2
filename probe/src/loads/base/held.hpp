// The feedback that holds a load at its target: a share of one CPU, kept on the worker's own CPU time.
#pragma once

#include <cstdint>

#include "loads/load.hpp"

namespace howlate {

// Decides after each piece of work whether to go on or to sleep, so that cpu time / wall time follows the
// target. Pure: it reads no clock.
//
// The share is held over the whole life of the load, not over a window: what another task (or the hypervisor)
// took away is made up for later. The debt is bounded, so that a worker that was stopped for an hour does not
// then run for half of one, and the bound is counted in `forgiven_ns`.
class HeldController {
 public:
  // `target` is 0..1. With a grain a worker runs for target * grain and then sleeps for the rest of it;
  // without one it sleeps as soon as it is ahead.
  HeldController(double target, std::int64_t grain_ns, std::int64_t debt_max_ns = 1'000'000'000)
      : target_(target), grain_ns_(grain_ns), debt_max_ns_(debt_max_ns) {}

  // What to do at `wall_ns` with `cpu_ns` used, both since the worker began: 0 = work on; else the wall time,
  // on the same scale, until which to sleep. `never` = for ever.
  std::int64_t sleep_until(std::int64_t wall_ns, std::int64_t cpu_ns);

  [[nodiscard]] std::int64_t forgiven_ns() const { return forgiven_ns_; }

  static constexpr std::int64_t never = INT64_MAX;

 private:
  double target_;
  std::int64_t grain_ns_;
  std::int64_t debt_max_ns_;
  std::int64_t forgiven_ns_ = 0;  // CPU time owed that will not be made up for
};

// How many units to do between two looks at the clocks, so that a look comes about every `wanted_ns` of CPU
// time.
class BatchSize {
 public:
  explicit BatchSize(std::int64_t wanted_ns, std::int64_t most) : wanted_ns_(wanted_ns), most_(most) {}
  [[nodiscard]] std::int64_t size() const { return size_; }
  void took(std::int64_t cpu_ns);

 private:
  std::int64_t wanted_ns_;
  std::int64_t most_;
  std::int64_t size_ = 1;
};

// The two clocks of a worker and its sleep.
class HeldClock {
 public:
  HeldClock();
  [[nodiscard]] std::int64_t wall_ns() const;
  [[nodiscard]] std::int64_t cpu_ns() const;  // user and kernel
  void sleep_until(std::int64_t wall_ns) const;

 private:
  std::int64_t wall_origin_ns_;
  std::int64_t cpu_origin_ns_;
};

// For ever: do(n) units of work in batches of about 100 us, at the share that the worker's parameter "target"
// asks for.
template <class Do>
[[noreturn]] void hold(Worker& worker, Do&& work) {
  HeldController controller(worker.params.real("target") / 100.0, 10'000'000);
  BatchSize batch(100'000, std::int64_t{1} << 40);
  worker.say_ready();
  const HeldClock clock;
  std::int64_t cpu_before_ns = 0;
  for (;;) {
    const std::int64_t cpu_ns = clock.cpu_ns();
    if (const std::int64_t until_ns = controller.sleep_until(clock.wall_ns(), cpu_ns); until_ns != 0) {
      clock.sleep_until(until_ns);
      cpu_before_ns = clock.cpu_ns();
    } else {
      cpu_before_ns = cpu_ns;
    }
    const std::int64_t many = batch.size();
    work(many);
    worker.slot.add_units(many);
    batch.took(clock.cpu_ns() - cpu_before_ns);
  }
}

}  // namespace howlate
