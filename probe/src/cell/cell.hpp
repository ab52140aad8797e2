// The surroundings of every test: the order in which knobs, loads, memory lock, stream, measuring threads and
// recorder come and go, and the account at the end. A test fills a CellPlan and calls Cell::measure();
// docs/recorder.md describes the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/params.hpp"
#include "core/result.hpp"
#include "inject/injection.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "tests/test.hpp"
#include "timers/timer.hpp"
#include "trace/options.hpp"

namespace howlate {

// One measuring thread: where and how it runs, and what it runs. Filled by the test; `loop`'s schedule, ring,
// stop and end are the cell's.
struct MeasuringThread {
  int cpu = -1;             // -1: not pinned
  std::vector<int> cpuset;  // CPUs of the knob `cpuset`, if the thread is to be in that set; else empty
  SchedPolicy policy;
  std::int64_t stagger_ns = 0;      // its first release minus the cell's t0
  std::int64_t timer_slack_ns = 0;  // 0: as found
  std::int64_t work_ns = 0;         // of each activation, calibrated on the thread itself; 0 = none
  LoopContext loop;                 // late policy, activations wanted, work
  Status (*run)(LoopContext& loop) = nullptr;
  Status (*attach)() = nullptr;  // of a timer that has one: called on the thread before t0 is chosen
};

using Labels = std::vector<std::pair<std::string, std::string>>;

enum class RecordMode { stream, memory };

// What --inject asks for.
struct InjectWish {
  const Injection* kind = nullptr;
  InjectSpec spec;
};

struct CellPlan {
  std::vector<std::unique_ptr<MeasuringThread>> lanes;
  Labels labels;                      // {"timer", "clock_nanosleep"}, ...: what tells this cell from others
  ScheduleSpec schedule;              // t0 is the cell's to choose
  std::int64_t first_ns = 1'000'000;  // distance of the first release
  std::int64_t warm_up_ns = 0;        // from that one to t0: releases that are served and not recorded
  std::int64_t duration_ns = 0;       // 0: until the activations are done
  std::int64_t threshold_ns = 0;      // 0: none; else the run ends at the first latency above, exit code 1
  bool break_trace = false;           // then also mark and stop the kernel's trace
  std::int64_t deadline_ns = 0;       // 0: none; else samples beyond it are counted
  bool has_work = false;              // the deadline is the response's
  RecordMode record = RecordMode::stream;
  ExplainOptions explain;
  std::optional<InjectWish> inject;
};

// Whether a cell is measured, or goes through the same checks up to where its measurement would begin (`howlate-probe plan`).
enum class CellUse { measure, check };

// A note for readers of the result: a sentence, and the id of its rule (docs/stream.md).
struct Warning {
  std::string_view rule;
  std::string text;
};

class Cell {
 public:
  Cell(const Test& test, Params params, Root root = {}, CellUse use = CellUse::measure)
      : test_(test), params_(std::move(params)), root_(std::move(root)), use_(use) {}
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  [[nodiscard]] const Test& test() const { return test_; }
  [[nodiscard]] Params& params() { return params_; }
  [[nodiscard]] const Params& params() const { return params_; }
  [[nodiscard]] const Root& root() const { return root_; }
  [[nodiscard]] bool only_checks() const { return use_ == CellUse::check; }
  [[nodiscard]] const std::vector<Warning>& warnings() const { return warnings_; }
  void warn(std::string_view rule, std::string text) { warnings_.push_back({rule, std::move(text)}); }

  // Everything from the knobs to the summary; of a cell that is only checked, the checks alone. Called once, after everything has been
  // parsed and checked.
  Result<ExitCode> measure(CellPlan plan);

 private:
  const Test& test_;
  Params params_;
  Root root_;
  CellUse use_;
  std::vector<Warning> warnings_;
};

}  // namespace howlate
