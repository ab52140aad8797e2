// A barrier at which measuring threads wait until all are there and the first release is known.
#pragma once

#include <atomic>
#include <cstddef>

namespace howlate {

class StartBarrier {
 public:
  // Called by a thread: waits; true if the barrier was opened, false if the thread must end.
  bool pass() {
    there_.fetch_add(1, std::memory_order_release);
    there_.notify_all();
    state_.wait(closed, std::memory_order_acquire);
    return state_.load(std::memory_order_acquire) == opened;
  }
  // Waits until this many threads have come.
  void await(std::size_t many) const {
    for (std::size_t there = 0; (there = there_.load(std::memory_order_acquire)) != many;)
      there_.wait(there, std::memory_order_acquire);
  }
  void open() {
    state_.store(opened, std::memory_order_release);
    state_.notify_all();
  }
  // Waiting threads end; threads that have passed are not affected.
  void send_home() {
    int expected = closed;
    state_.compare_exchange_strong(expected, home, std::memory_order_release);
    state_.notify_all();
  }

 private:
  enum State : int { closed, opened, home };
  std::atomic<int> state_{closed};
  std::atomic<std::size_t> there_{0};
};

}  // namespace howlate
