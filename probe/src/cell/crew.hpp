// The threads of a cell: made, held at a gate until t0 is known, interrupted with a signal when they must stop.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "cell/bell.hpp"
#include "cell/gate.hpp"
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
class Crew {
 public:
  Crew(const Root& root, Bell& bell) : root_(root), bell_(bell) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();  // threads that wait at the gate end

  // Makes the member's thread, which runs `body`: that waits with pass() before it measures.
  Status start(Member& member, const ThreadSpec& spec, std::function<void()> body);
  // Waits until all started threads are at the gate.
  void await() const { gate_.await(members_.size()); }
  // Called by a member: waits; false if it must end.
  bool pass() { return gate_.pass(); }
  void open() { gate_.open(); }

  // Asks all to end; repeat kick() until ended().
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::atomic<bool>* stop_flag() const { return &stop_; }
  void kick() const;  // also while another thread joins them
  [[nodiscard]] bool ended() const;
  void join();

 private:
  Root root_;
  Bell& bell_;
  std::vector<Member*> members_;
  Gate gate_;
  std::atomic<bool> stop_{false};
  mutable std::mutex joining_;  // no thread is signalled after it was joined
};

}  // namespace howlate
