// The watchdog of a test of data points: a thread with a higher priority than the test's. It wakes periodically and stops a run in which no point
// came since its last check. If a test spins on the only CPU, nothing else could do that.
#pragma once

#include <atomic>

#include "cell/wake_fd.hpp"
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
  std::optional<WakeFd> home_;
  std::atomic<bool> barked_{false};
  RtThread thread_;
};

}  // namespace howlate
