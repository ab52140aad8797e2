// A bounded single-producer single-consumer ring that reports items for which it has no room.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace howlate {

// The producer (a measuring thread) never waits: push() on a full ring returns false and the caller counts
// the drop. The consumer (the recorder) takes whole runs of items. The owner provides the storage, touched and
// locked; its size must be a power of two.
template <class T>
class Ring {
 public:
  explicit Ring(std::span<T> storage)
      : storage_(storage),
        mask_(storage.size() - 1),
        next_(storage.data()),
        free_end_(next_ + storage.size()) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool push(const T& item) {
    if (!has_room()) return false;
    put(item);
    return true;
  }

  // The two halves of push(). They construct an item in place, and only if there is room for it.
  [[nodiscard]] bool has_room() { return next_ != free_end_ || find_free(); }
  void put(const T& item) {
    *next_++ = item;
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // The longest contiguous run of items; valid until pop(). Empty if there are none.
  [[nodiscard]] std::span<const T> peek() const {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    const auto at = static_cast<std::size_t>(tail & mask_);
    const std::size_t many = static_cast<std::size_t>(head - tail);
    return storage_.subspan(at, many < storage_.size() - at ? many : storage_.size() - at);
  }
  void pop(std::size_t count) {
    tail_.store(tail_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
  [[nodiscard]] std::size_t capacity() const { return storage_.size(); }

 private:
  // Finds the contiguous free places, by reading tail_ again. False if there are none.
  bool find_free() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t free = tail_.load(std::memory_order_acquire) + storage_.size() - head;
    const auto at = static_cast<std::size_t>(head & mask_);
    next_ = storage_.data() + at;
    free_end_ = next_ + std::min(static_cast<std::size_t>(free), storage_.size() - at);
    return free > 0;
  }

  std::span<T> storage_;
  std::uint64_t mask_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  T* next_;      // the place at head_, or the end of the storage
  T* free_end_;  // according to the producer's last read of tail_
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace howlate
