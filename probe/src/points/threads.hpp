// The threads of a test of data points: rows had and touched for those that record.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cell/thread_group.hpp"
#include "points/points.hpp"
#include "sys/memory.hpp"

namespace howlate {

// One thread while it runs.
struct PointsThreadRun : Member {
  const PointsThreadSpec& spec;
  TouchedPages pages;  // column after column
  PointsThread seen;   // by the body
  std::int64_t ended_ns = 0;

  explicit PointsThreadRun(const PointsThreadSpec& of) : spec(of) {}
  [[nodiscard]] int cpu() const { return spec.cpus.size() == 1 ? spec.cpus.front() : -1; }  // -1: not pinned
};

class PointsThreads {
 public:
  PointsThreads(const Root& root, WakeFd& wake_fd) : root_(root), group_(root, wake_fd) {}

  // The memory of the rows of each recording thread.
  static std::size_t memory_bytes(const PointsPlan& plan);
  Status make(const PointsPlan& plan);
  Status start();  // on return all wait at the gate
  // Called on the measuring threads themselves, since the main thread may get no CPU for long: by the first that records at t0, and by
  // the last right after it has measured. To be set before start().
  void when_measuring(std::function<void()> begins, std::function<void()> over) {
    at_t0_ = [this, begins = std::move(begins)] {
      if (!begun_.exchange(true, std::memory_order_acq_rel)) begins();
    };
    over_ = std::move(over);
  }
  void open(const PointsPlan& plan, std::int64_t t0_ns);
  [[nodiscard]] ThreadGroup& group() { return group_; }
  [[nodiscard]] const ThreadGroup& group() const { return group_; }

  [[nodiscard]] std::int64_t points() const;  // so far, of all that record
  [[nodiscard]] const std::vector<std::unique_ptr<PointsThreadRun>>& runs() const { return runs_; }

 private:
  void body(PointsThreadRun& run);
  void one_ended(const PointsThreadRun& run);

  Root root_;
  std::vector<std::unique_ptr<PointsThreadRun>> runs_;
  std::function<void()> at_t0_ = [] {};
  std::function<void()> over_;
  std::atomic<bool> begun_{false};         // one that records has begun
  std::atomic<std::size_t> recording_{0};  // that have not ended
  ThreadGroup group_;
};

}  // namespace howlate
