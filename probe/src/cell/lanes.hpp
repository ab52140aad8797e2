// The measuring threads of a schedule: a ring for each.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cell/cell.hpp"
#include "cell/live.hpp"
#include "cell/thread_group.hpp"
#include "core/ring.hpp"
#include "sys/memory.hpp"

namespace howlate {

// One lane while it runs. The ring's storage is touched before; the thread waits at the gate.
struct LaneRun : Member {
  MeasuringThread& lane;
  TouchedPages pages;
  Ring<Sample> ring;
  std::unique_ptr<LiveBins> bins{};  // where a program is told of them; the recorder counts

  LaneRun(MeasuringThread& of, TouchedPages storage)
      : lane(of), pages(std::move(storage)), ring(pages.as<Sample>()) {}
};

class Lanes {
 public:
  Lanes(const Root& root, WakeFd& wake_fd) : root_(root), group_(root, wake_fd) {}

  // Rings of `samples` each (a power of two), touched.
  Status make(std::vector<std::unique_ptr<MeasuringThread>>& lanes, std::size_t samples);
  // Makes the threads, as their lanes say; on return all wait at the gate. `allowed` is where an unpinned one
  // may run; `enter_cpuset` moves the calling thread into the knob's set.
  Status start(const std::vector<int>& allowed, const std::function<Status()>& enter_cpuset = {});

  // Called by the last lane to finish, on its own thread, because the main thread may get no CPU for long. Set it before start().
  void when_over(std::function<void()> over) { over_ = std::move(over); }
  // The first release is at t0; the gate opens.
  void open(const CellPlan& plan, std::int64_t t0_ns);
  [[nodiscard]] ThreadGroup& group() { return group_; }
  [[nodiscard]] const ThreadGroup& group() const { return group_; }
  [[nodiscard]] bool one_has_ended_early()
      const;  // at its threshold or with a failure: the others must stop too

  [[nodiscard]] const std::vector<std::unique_ptr<LaneRun>>& runs() const { return runs_; }
  [[nodiscard]] SoFar so_far() const;

 private:
  void body(LaneRun& run);

  Root root_;
  std::vector<std::unique_ptr<LaneRun>> runs_;
  std::function<void()> over_;
  std::atomic<std::size_t> measuring_{0};  // lanes that have not ended
  ThreadGroup group_;
};

}  // namespace howlate
