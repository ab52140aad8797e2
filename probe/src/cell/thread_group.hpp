// The threads of a cell: made, held at a barrier until t0 is known, interrupted with a signal when they must stop.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "cell/start_barrier.hpp"
#include "cell/wake_fd.hpp"
#include "sys/root.hpp"
#include "sys/thread.hpp"

namespace howlate {

// One thread while it runs.
struct Member {
  RtThread thread;
  Status status;                  // of what it ran
  ThreadCounters counters;        // of the measured part
  std::atomic<bool> ended{true};  // until its thread is there
};

// Destroyed before its members.
class ThreadGroup {
 public:
  ThreadGroup(const Root& root, WakeFd& wake_fd) : root_(root), wake_fd_(wake_fd) {}
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  ~ThreadGroup();  // threads that wait at the barrier end

  // Makes the member's thread, which runs `body`: that waits with pass() before it measures.
  Status start(Member& member, const ThreadSpec& spec, std::function<void()> body);
  // Waits until all started threads are at the barrier.
  void await() const { barrier_.await(members_.size()); }
  // Called by a member: waits; false if it must end.
  bool pass() { return barrier_.pass(); }
  void open() { barrier_.open(); }

  // Asks all to end; repeat kick() until ended().
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::atomic<bool>* stop_flag() const { return &stop_; }
  void kick() const;  // also while another thread joins them
  [[nodiscard]] bool ended() const;
  void join();

 private:
  Root root_;
  WakeFd& wake_fd_;
  std::vector<Member*> members_;
  StartBarrier barrier_;
  std::atomic<bool> stop_{false};
  mutable std::mutex joining_;  // no thread is signalled after it was joined
};

}  // namespace howlate
