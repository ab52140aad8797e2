// What the ways to sleep of a real-time core beside Linux share: the thread runs on the core's stage while it measures, and its way back to
// Linux's stage is counted.
//
// The core programs its timers ahead of their dates (sys/gravity.hpp), so a wake-up may come before the release: that is the answer to this
// release, and its latency is negative. Early is a wake-up by a signal alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "sys/gravity.hpp"
#include "timers/sleep.hpp"

namespace howlate {

// A Core has
//   static constexpr std::string_view name;
//   static void enter();              the calling thread goes to the core's stage
//   static std::int64_t switches();   how often it has left that stage, by the core's count
template <class Core>
class CoreSleep : public InterruptibleSleep {
 public:
  explicit CoreSleep(LoopContext& loop) : loop_(loop) {}

  [[nodiscard]] bool early(std::int64_t /*release_ns*/, std::int64_t /*now_ns*/) const { return !woken_; }
  [[nodiscard]] std::int64_t end_of_loop() const { return std::max(now(), served_ns_); }

  // After the loop. What ends a run from outside (a stop's signal, the mark of a threshold) makes the thread leave the stage once.
  void settle() const {
    const bool ended_from_outside =
        loop_.stop_reason == StopReason::stopped || loop_.stop_reason == StopReason::threshold;
    const std::int64_t counted = before_ < 0 ? 0 : Core::switches() - before_;
    loop_.core.switches = counted - (ended_from_outside && counted > 0 ? 1 : 0);
  }

 protected:
  // Before a wait. The count begins here, because the loop itself reads counters of Linux's before its first.
  void begin() {
    if (before_ >= 0) [[likely]]
      return;
    Core::enter();
    before_ = Core::switches();
  }
  [[nodiscard]] std::int64_t served_ns() const { return served_ns_; }
  // After one: 0, or an errno.
  void woken(int failed, std::int64_t release_ns) {
    woken_ = failed == 0;
    if (woken_) [[likely]]
      served_ns_ = release_ns;
    else if (failed != EINTR)
      error = failed;
  }

 private:
  LoopContext& loop_;
  std::int64_t before_ = -1;
  std::int64_t served_ns_ = INT64_MIN;
  bool woken_ = true;
};

// The gravity of what waits, for the account.
inline void note_gravity(LoopContext& loop, std::string_view core, std::int64_t Gravity::*kind) {
  const auto gravity = read_gravity(Root(), core);
  loop.core.gravity_ns = gravity ? (*gravity).*kind : -1;
}

}  // namespace howlate
