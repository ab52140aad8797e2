// The watchdog of a test of data points: a thread above all of the test's that wakes now and then, and stops a run in which no point
// came since it last looked. Where a test spins on the only CPU, nothing else could.
#pragma once

#include <atomic>

#include "cell/bell.hpp"
#include "points/threads.hpp"

namespace howlate {

class Watchdog {
 public:
  explicit Watchdog(PointsThreads& threads) : threads_(threads) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() { end(); }

  // Real-time and above the threads of `plan` where that may be had; as any other where not.
  Status start(const PointsPlan& plan, const Root& root);
  void end();
  [[nodiscard]] bool barked() const { return barked_.load(std::memory_order_acquire); }

 private:
  void body(std::int64_t stall_ns);

  PointsThreads& threads_;
  std::optional<Bell> home_;
  std::atomic<bool> barked_{false};
  RtThread thread_;
};

}  // namespace howlate
