// The arithmetic of the questions of the test scheduler, apart from the tasks that they run.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>

#include "core/result.hpp"

namespace howlate {

// syscall: when the next wake-up is due. From point to point it walks through the other task's call: 0.5 to 1 ms ahead, and no instant
// of those comes again before all of them did.
std::int64_t next_release_ns(std::int64_t now_ns, std::int64_t step);

// syscall: how many descriptors a process may name so that one poll() of them is long: what it may by now or as many as are enough,
// within what it is allowed.
inline constexpr rlim_t descriptors_enough = 524'288;
rlim_t descriptors_to_name(rlim_t now, rlim_t most);

// inversion: the times must be possible, and there must be room for two priorities below `priority`.
inline constexpr int levels_below = 2;  // the owner's priority, under the one that waits
Status check_inversion(std::int64_t hold_ns, std::int64_t between_ns, int priority);

// throttling: looks for the gap in which the CPU was another task's, among a spinning task's readings of the clock.
class TakenGap {
 public:
  // `turns` counts what the other task does: as long as it stays, that one has not had the CPU.
  TakenGap(std::int64_t begin_ns, const std::atomic<std::int64_t>& turns)
      : end_ns_(begin_ns), turns_(turns), turns_before_(turns.load(std::memory_order_acquire)) {}

  // The next reading. True when the gap is found: the CPU was away since the one before, and the other task has run by now. A short one,
  // and one before the other task's first turn (an interrupt, a hypervisor), is none.
  bool take(std::int64_t now_ns) {
    begin_ns_ = end_ns_;
    end_ns_ = now_ns;
    return end_ns_ - begin_ns_ > least_ns && turns_.load(std::memory_order_acquire) != turns_before_;
  }
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }  // of the last two readings
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }

  static constexpr std::int64_t least_ns = 20'000;

 private:
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_;
  const std::atomic<std::int64_t>& turns_;
  std::int64_t turns_before_;
};

}  // namespace howlate
