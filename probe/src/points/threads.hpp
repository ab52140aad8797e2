// The threads of a test of data points: rows had and touched, made, held at a gate until t0 is known, ended together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cell/bell.hpp"
#include "cell/gate.hpp"
#include "points/points.hpp"
#include "sys/memory.hpp"
#include "sys/thread.hpp"

namespace howlate {

// One thread while it runs.
struct PointsThreadRun {
  const PointsThreadSpec& spec;
  TouchedPages pages;  // column after column
  PointsThread seen;   // by the body
  RtThread thread;
  Status status;            // of the body
  ThreadCounters counters;  // of the measured part
  std::int64_t ended_ns = 0;
  std::atomic<bool> ended{false};

  explicit PointsThreadRun(const PointsThreadSpec& of) : spec(of) {}
};

class PointsThreads {
 public:
  PointsThreads(const Root& root, Bell& bell) : root_(root), bell_(bell) {}
  PointsThreads(const PointsThreads&) = delete;
  PointsThreads& operator=(const PointsThreads&) = delete;
  ~PointsThreads();  // whatever waits at the gate goes home

  // What the rows take, for each recording thread.
  static std::size_t memory_bytes(const PointsPlan& plan);
  Status make(const PointsPlan& plan);
  Status start();  // on return all wait at the gate
  // Called on the measuring threads themselves, since the main thread may get no CPU for long: by the first that records right before
  // it measures, and by the last right after. To be set before start().
  void when_measuring(std::function<void()> begins, std::function<void()> over) {
    begins_ = std::move(begins);
    over_ = std::move(over);
  }
  void open(const PointsPlan& plan, std::int64_t t0_ns);
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  void kick() const;  // also while another thread joins them
  [[nodiscard]] bool ended() const;
  void join();

  [[nodiscard]] std::int64_t points() const;  // so far, of all that record
  [[nodiscard]] const std::vector<std::unique_ptr<PointsThreadRun>>& runs() const { return runs_; }

 private:
  void body(PointsThreadRun& run);
  void one_ended(const PointsThreadRun& run);

  Root root_;
  Bell& bell_;
  std::vector<std::unique_ptr<PointsThreadRun>> runs_;
  Gate gate_;
  std::function<void()> begins_, over_;
  std::atomic<bool> begun_{false};         // one that records has begun
  std::atomic<std::size_t> recording_{0};  // that have not ended
  std::atomic<bool> stop_{false};          // all shall end
  mutable std::mutex joining_;             // no thread is signalled after it was joined
};

}  // namespace howlate
