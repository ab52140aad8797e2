// A bounded single-producer single-consumer ring that counts what it could not keep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace howlate {

// The producer (a measuring thread) never waits: push() on a full ring returns false and the caller counts
// the drop. The consumer (the recorder) takes whole runs of items. Storage is given from outside, touched and
// locked by its owner; its size must be a power of two.
template <class T>
class Ring {
 public:
  explicit Ring(std::span<T> storage) : storage_(storage), mask_(storage.size() - 1) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  bool push(const T& item) { return emplace(item); }

  // Makes the item in its place from its fields, which spares the copy.
  template <class... Fields>
  bool emplace(const Fields&... fields) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == full_at_) [[unlikely]] {
      full_at_ = tail_.load(std::memory_order_acquire) + storage_.size();
      if (head == full_at_) return false;
    }
    new (&storage_[static_cast<std::size_t>(head & mask_)]) T{fields...};
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // The longest run of items that lie side by side; valid until pop(). Empty when there is nothing.
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
  std::span<T> storage_;
  std::uint64_t mask_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t full_at_ =
      storage_.size();  // the head at which the ring is full, by the producer's last look at tail_
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace howlate
