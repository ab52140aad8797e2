// The measuring threads of a cell: made, held at a gate until t0 is known, kicked when they shall stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cell/bell.hpp"
#include "cell/cell.hpp"
#include "cell/gate.hpp"
#include "core/ring.hpp"
#include "sys/memory.hpp"
#include "sys/thread.hpp"

namespace howlate {

// One lane while it runs. The ring's storage is touched before; the thread waits at the gate.
struct LaneRun {
  Lane& lane;
  TouchedPages pages;
  Ring<Sample> ring;
  RtThread thread;
  Status status;            // of Lane::run
  ThreadCounters counters;  // of the measured part
  std::atomic<bool> ended{false};

  LaneRun(Lane& of, TouchedPages storage) : lane(of), pages(std::move(storage)), ring(pages.as<Sample>()) {}
};

class Lanes {
 public:
  Lanes(const Root& root, Bell& bell) : root_(root), bell_(bell) {}
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes();  // whatever waits at the gate goes home

  // Rings of `samples` each (a power of two), touched.
  Status make(std::vector<std::unique_ptr<Lane>>& lanes, std::size_t samples);
  // Makes the threads, as their lanes say; on return all wait at the gate. `allowed` is where an unpinned one
  // may run; `enter_cpuset` moves the calling thread into the knob's set.
  Status start(const std::vector<int>& allowed, const std::function<Status()>& enter_cpuset = {});

  // Called by the last lane that has measured, on its own thread: the main thread may get no CPU for long. To be set before start().
  void when_over(std::function<void()> over) { over_ = std::move(over); }
  // The first release is at t0; the gate opens.
  void open(const CellPlan& plan, std::int64_t t0_ns);
  // Every lane shall end; kick() is to be repeated until ended().
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  void kick() const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] bool one_has_ended_early()
      const;  // with its threshold or a failure: the others shall stop too
  void join();

  [[nodiscard]] const std::vector<std::unique_ptr<LaneRun>>& runs() const { return runs_; }
  [[nodiscard]] std::int64_t activations() const;     // so far, of all lanes
  [[nodiscard]] std::int64_t latency_ns_max() const;  // so far, of all lanes; 0 before the first

 private:
  void body(LaneRun& run);

  Root root_;
  Bell& bell_;
  std::vector<std::unique_ptr<LaneRun>> runs_;
  Gate gate_;
  std::function<void()> over_;
  std::atomic<std::size_t> measuring_{0};  // lanes that have not ended
  std::atomic<bool> stop_{false};
};

}  // namespace howlate
