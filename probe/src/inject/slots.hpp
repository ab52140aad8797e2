// What the makers of delays leave, in memory that a forked helper shares.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "inject/injection.hpp"

namespace howlate {

// One planned delay. Zeros: not made, since the end came before it.
struct DelaySlot {
  std::atomic<std::int64_t> begin_ns;  // CLOCK_MONOTONIC
  std::atomic<std::int64_t> end_ns;
  std::atomic<std::int64_t> uncertainty_ns;  // of the end
  std::atomic<std::int32_t> pid;
  std::atomic<std::int32_t> over;      // the delayed task is through
  std::atomic<std::int32_t> unwanted;  // could not be made as wanted
};

class DelaySlots {
 public:
  DelaySlots() = default;
  static Result<DelaySlots> make(std::size_t count);
  DelaySlots(DelaySlots&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DelaySlots& operator=(DelaySlots&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(count_, other.count_);
    return *this;
  }
  DelaySlots(const DelaySlots&) = delete;
  DelaySlots& operator=(const DelaySlots&) = delete;
  ~DelaySlots();

  DelaySlot& operator[](std::size_t index) const { return static_cast<DelaySlot*>(at_)[index]; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  void* at_ = nullptr;
  std::size_t count_ = 0;
};

// Slots for each lane's delays, and what has been made of them.
class LaneSlots {
 public:
  Status make(const InjectPlan& plan);
  DelaySlot& at(std::size_t lane, std::size_t index) const { return lanes_[lane][index]; }
  [[nodiscard]] std::vector<MadeDelay> made(const InjectPlan& plan) const;

 private:
  std::vector<DelaySlots> lanes_;
};

// The delay has passed before it could be made.
inline void skip_delay(DelaySlot& slot, std::int64_t now_ns) {
  slot.unwanted.store(1, std::memory_order_relaxed);
  slot.end_ns.store(now_ns, std::memory_order_relaxed);
  slot.begin_ns.store(now_ns, std::memory_order_release);
}

// In order of the beginnings.
void sort_made(std::vector<MadeDelay>& made);

}  // namespace howlate
