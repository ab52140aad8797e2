// Tests of data points: what is measured is not a periodic activation but N rows of K columns, each row one data point (a difference
// of two clock readings, a preemption, a switch). This is the frame that such a test stands in; tests/clock.cpp is the simplest one.
//
// A test's run(Cell&):
//   1. checks its own options, chooses CPUs and policies (cell/choose.hpp, choose_points() below for the common ones);
//   2. fills a PointsPlan: labels, threads with their bodies, how many points each recording thread shall make;
//   3. returns measure_points(cell, plan).
// The frame then does, in this order: memory that is needed is checked; knobs, loads (cell/surroundings.hpp); plan.set_up on the
// main thread while there is no other thread (the place to fork, to make pipes and shared memory); rows are allocated and touched; the
// threads are made and wait at a gate; all memory is locked and touched; the machine is read; the gate opens; the bodies run, and
// from t0 on, when the warm-up is over, their points are kept;
// plan.take_down; the machine is read again; loads end and knobs are restored; plan.conclude turns what was stored into what is
// reported; rows are written. While the bodies run nothing is written, printed to a file or allocated by the frame, except the
// live line and the table `cpus` once a second, from the main thread, off the measuring CPUs where there are others.
//
// Columns (Test::columns, or plan.columns): the first is `index` (i64, the frame fills it in), the last is `flags` (u8: bit 1
// switched out, the body's), `time_ns` (i64, an offset from t0) where it is sensible; all others are
// i64, and those that end in _ns get statistics. In memory every column is 64 bits a row.
//
// A body must look at more() or stopped() at least a few hundred times a second, and come back soon when they say so: the frame
// never kills a thread. A body that may block for ever in a system call takes the kick (kick_signal() of timers/timer.hpp: EINTR);
// one that blocks in pthread_mutex_lock() and the like must be woken by its partner. A body that spins does it in windows
// (SpinWindow). Where no body makes a point for plan.stall_ns the watchdog, a thread above all of them, stops the run: exit code 4.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cell/cell.hpp"
#include "core/params.hpp"
#include "core/result.hpp"
#include "core/sample.hpp"
#include "core/stream.hpp"
#include "sys/clock.hpp"
#include "sys/sched.hpp"
#include "sys/thread.hpp"
#include "timers/timer.hpp"

namespace howlate {

// A body's view of its run, for one thread; nothing in it locks, allocates or calls the kernel.
class PointsThread {
 public:
  // Whether to make another point. False when the wanted number is reached, when --duration has passed at `now_ns` (CLOCK_MONOTONIC),
  // or when stopped(). Only for a recording thread. `now_ns` may be an old reading: then the end comes that much later.
  [[nodiscard]] bool more(std::int64_t now_ns) {
    if (warm_ && !over_at(now_ns)) return !stopped();
    if (rows_ + missed_ >= wanted_) return false;
    if (now_ns >= end_ns_) out_of_time_ = true;
    return !out_of_time_ && !stopped();
  }
  // The run is over: asked to end, a failure elsewhere, or (for those that do not record) all that record are ready.
  [[nodiscard]] bool stopped() const { return stop_->load(std::memory_order_relaxed); }
  [[nodiscard]] const std::atomic<bool>* stop_flag() const { return stop_; }

  // A point: one value for each column after `index`, in their order, `flags` last. Only after more() said yes. False: of the warm-up.
  template <class... Values>
  bool add(Values... values) {
    if (warm_) {
      made_warm(warm_up_.activations);
      return false;
    }
    const auto row = static_cast<std::size_t>(rows_);
    std::int64_t* const* column = columns_.data();
    *(*column++ + row) = rows_ + missed_;
    ((*(*column++ + row) = static_cast<std::int64_t>(values)), ...);
    ++rows_;
    made();
    return true;
  }
  // A wanted point could not be measured (a time-out): it counts as an overrun, and its index is left out.
  void missed() {
    if (warm_) return made_warm(warm_up_.overruns);
    ++missed_;
    made();
  }

  // Whether a point that began at this instant is of the warm-up, for those that come with an instant of their own.
  [[nodiscard]] bool was_before_t0(std::int64_t begun_ns) {
    if (!warm_ || over_at(begun_ns)) return begun_ns < t0_ns_;
    ++warm_up_.releases;
    ++warm_up_.activations;
    return true;
  }
  // For bodies that write into the columns themselves: whether the warm-up goes on.
  [[nodiscard]] bool is_warming_up() { return warm_ && !over_at(monotonic_now_ns()) && !stopped(); }

  // For bodies that need nothing warm.
  void rest_until_t0();

  // What the thread had used at t0 (faults, switches): that is not the run's. By bodies that neither ask more() nor is_warming_up().
  void count_from(const ThreadCounters& before) { before_ = before; }
  void served_before_t0(const WarmUp& warm_up) { warm_up_ = warm_up; }

  // For bodies that write into the columns themselves: the memory of one column (by its number in the columns, 1 is the first after
  // `index`) for all rows, and how many rows were written, from row 0 on. Not together with add().
  [[nodiscard]] std::span<std::int64_t> column(std::size_t number) const {
    return {columns_[number], static_cast<std::size_t>(wanted_)};
  }
  void wrote(std::int64_t rows) {
    numbered_ = false;
    rows_ = rows;
    made();
  }

  // By a body that may make no point for long, each time that it has looked for one: it has not come to a standstill.
  void looked() {
    if (looks_ != nullptr) looks_->fetch_add(1, std::memory_order_relaxed);
  }

  [[nodiscard]] std::int64_t t0_ns() const { return t0_ns_; }    // CLOCK_MONOTONIC
  [[nodiscard]] std::int64_t rows() const { return rows_; }      // so far
  [[nodiscard]] std::int64_t wanted() const { return wanted_; }  // points; as many rows there is room for
  [[nodiscard]] const WarmUp& warm_up() const { return warm_up_; }
  [[nodiscard]] std::int64_t missed_points() const { return missed_; }
  [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }  // of --duration; INT64_MAX without
  void ran_out_of_time() { out_of_time_ = true; }                // by a body that looks at end_ns() itself
  [[nodiscard]] bool numbered() const { return numbered_; }
  [[nodiscard]] bool out_of_time() const {
    return out_of_time_;
  }  // --duration has passed before all points were made

 private:
  friend class PointsThreads;
  // Whether t0 has passed, where the warm-up ends and the account begins.
  [[gnu::cold, gnu::noinline]] bool over_at(std::int64_t now_ns);
  [[gnu::cold, gnu::noinline]] void made_warm(std::int64_t& count) {
    ++warm_up_.releases;
    ++count;
    over_at(monotonic_now_ns());
  }
  void made() { live_->store(rows_ + missed_, std::memory_order_relaxed); }

  std::int64_t rows_ = 0;
  std::int64_t missed_ = 0;
  std::int64_t wanted_ = 0;
  std::int64_t end_ns_ = INT64_MAX;
  std::int64_t t0_ns_ = 0;
  WarmUp warm_up_;
  bool warm_ = false;  // t0 has not been seen to pass: points are counted and not kept
  bool out_of_time_ = false;
  bool numbered_ = true;  // `index` is written with the rows; else conclude fills it in
  const std::atomic<bool>* stop_ = nullptr;
  const std::function<void()>* at_t0_ = nullptr;
  std::vector<std::int64_t*> columns_;
  std::optional<ThreadCounters> before_;
  std::atomic<std::int64_t> own_live_{0};         // for the live line and the watchdog
  std::atomic<std::int64_t>* live_ = &own_live_;  // in a guest a word that the host reads
  std::atomic<std::int64_t>* looks_ =
      nullptr;  // another one of these, where a body may make no point for long
};

// Spinning in windows: half a second in each second, as the spinning timer does. A body that spins asks between two points.
class SpinWindow {
 public:
  explicit SpinWindow(std::int64_t now_ns) : until_ns_(now_ns + on_ns) {}
  // Sleeps through the rest of the second if the window is over; true if it slept: caches are cold, and an old reading is old.
  bool pause_if_over(std::int64_t now_ns) {
    if (now_ns < until_ns_) [[likely]]
      return false;
    sleep_until_ns(now_ns + off_ns);
    until_ns_ = monotonic_now_ns() + on_ns;
    return true;
  }
  [[nodiscard]] bool over(std::int64_t now_ns) const { return now_ns >= until_ns_; }
  static constexpr std::int64_t on_ns = 500'000'000;
  static constexpr std::int64_t off_ns = 500'000'000;

 private:
  std::int64_t until_ns_;
};

// One thread of the test. A recording one has a table `samples` of its own.
struct PointsThreadSpec {
  std::string name;       // as ps shows it, 15 characters: "clock/1"
  std::vector<int> cpus;  // one: pinned; several: may move among them
  SchedPolicy policy;
  bool records = true;
  std::function<Status(PointsThread&)> body;
};

// Rows after the run, for plan.conclude: values may be changed there (readings into differences), not their number.
struct PointsTable {
  std::int64_t rows = 0;
  std::int64_t missed = 0;
  std::int64_t t0_ns = 0;
  std::vector<std::span<std::int64_t>> columns;  // all of them, `rows` values each
};

// What a test says beside its columns: passes and failures where it has them, and figures of its own, all in `outcomes` of trailer
// and summary, and in the text.
struct PointsOutcomes {
  std::optional<std::int64_t> passes, failures;
  std::vector<std::pair<std::string, std::variant<std::int64_t, double>>>
      figures;  // {"above", 12}, {"above_ns", 25}
};

struct PointsPlan {
  Labels labels;                           // what tells this cell from others: policy, cpu; `load` is added
  std::vector<PointsThreadSpec> threads;   // the recording ones first
  std::span<const ColumnSpec> columns;     // empty: Test::columns
  std::int64_t points = 0;                 // of each recording thread
  std::int64_t duration_ns = 0;            // 0: until the points are there
  std::int64_t first_ns = 1'000'000;       // from the header's making to the opening of the gate
  std::int64_t warm_up_ns = 0;             // from there to t0
  std::int64_t stall_ns = 30'000'000'000;  // the watchdog's
  std::vector<int>
      loads_beside;  // the CPUs that a load's cpus=same and cpus=other refer to; empty: those of all threads
  bool switched_by_design = false;  // the test itself makes a recording thread lose the CPU involuntarily
  std::function<Status()> set_up;
  std::function<void()> take_down;  // after the bodies have ended, or where the run could not begin
  std::function<PointsOutcomes(std::vector<PointsTable>&)> conclude;
};

// --points, --duration, --first, --warm-up, --cpus, --policy: what the tests have in common. A test's table of parameters begins with these.
constexpr ParamSpec points_param(std::string_view fallback) {
  return {"points", ParamType::count, fallback, "1", "", "end after this many data points", false, true};
}
inline constexpr ParamSpec points_duration = {
    "duration", ParamType::duration, "", "ns", "", "end after this time, if that comes first", false, true};
inline constexpr ParamSpec points_first = {
    "first", ParamType::duration, "1000us", "ns", "", "when the warm-up begins, after the start"};
inline constexpr ParamSpec points_cpus = {
    "cpus", ParamType::cpus, "", "", "", "the measuring CPUs; by default the highest CPU allowed"};
inline constexpr ParamSpec points_policy = {"policy", ParamType::text,        "fifo:80", "",
                                            "",       "other, fifo:P or rr:P"};
inline constexpr ParamSpec points_occupy_all = {
    "occupy-all", ParamType::flag, "", "", "", "let the test take every CPU, although it spins"};

// Those options read and checked, and put into `plan` (points, duration, first, warm-up, labels "policy" and "cpu").
struct PointsChoice {
  std::vector<int> cpus;
  SchedPolicy policy;  // OTHER with a warning where the right to the default lacks
};
Result<PointsChoice> choose_points(Cell& cell, PointsPlan& plan);
// The same without --policy, for tests that choose their threads' policies themselves.
Result<std::vector<int>> choose_points_cpus(Cell& cell, PointsPlan& plan);
// For tests that spin: refuses to take every CPU of several unless --occupy-all.
Status leave_a_cpu(const Params& params, const std::vector<int>& cpus);

// Everything from the knobs to the summary. Called once, after everything has been parsed and checked.
Result<ExitCode> measure_points(Cell& cell, PointsPlan plan);

}  // namespace howlate
