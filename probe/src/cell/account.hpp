// The account of a cell: what each measuring thread counted, compared with what the recorder counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cell/cell.hpp"
#include "cell/loads.hpp"
#include "cell/table.hpp"
#include "cell/tally.hpp"
#include "sys/clock_offsets.hpp"
#include "sys/cpus.hpp"
#include "sys/thread.hpp"
#include "sys/throttling.hpp"

namespace howlate {

// One entry of the trailer's "accounting" (docs/stream.md): the measuring thread's own numbers.
struct LaneAccount {
  int table = 0;
  int cpu = -1;
  std::int64_t releases = 0;
  std::int64_t recorded = 0;
  std::int64_t overruns = 0;
  std::int64_t dropped = 0;
  std::int64_t late_starts = 0;
  std::int64_t early = 0;
  WarmUp warm_up;  // before t0: in none of the others
  std::int64_t latency_ns_max = 0;
  std::int64_t release_at_max = -1;
  std::int64_t deadline_misses = 0;
  ThreadCounters counters;
  std::int64_t phase_before_ns = 0;
  std::int64_t phase_after_ns = 0;
  CoreAccount core;  // of a real-time core beside Linux, where the timer is one of its
};

// What the recorder counted for a lane beside its tally.
struct RecorderCounts {
  std::int64_t releases = 0;  // due by the end, from the schedule alone (Recorder::count_releases)
  std::int64_t lost = 0;      // rows taken out of the ring that could not be written: dropped ones
};

LaneAccount make_account(int table, const MeasuringThread& lane, const ThreadCounters& counters,
                         const Tally& tally, const RecorderCounts& counted);

// Disagreements, a sentence each; empty if everything agrees.
std::vector<std::string> check_account(const LaneAccount& account, const Tally& tally,
                                       const TableWriter& table);

std::string_view stop_reason_name(StopReason reason);
// The most significant reason of all lanes (failed, threshold, stopped, duration, activations).
StopReason join_reasons(const std::vector<StopReason>& reasons);

// The frequency of a measuring CPU, in kHz; 0 = unknown.
struct FrequencyReading {
  int cpu = 0;
  std::int64_t before_khz = 0;
  std::int64_t after_khz = 0;
};

// Everything known at the end of a cell.
struct CellOutcome {
  StopReason reason = StopReason::activations;
  std::vector<LaneAccount> accounts;
  std::string clock_source_before;
  std::string clock_source_after;
  ClockOffsets clocks_before;
  ClockOffsets clocks_after;
  std::vector<SmiReading> smis;
  std::vector<FrequencyReading> frequencies;
  HeatCounts heat_before;
  HeatCounts heat_after;
  std::optional<bool> rt_throttled;  // nothing = not known
  std::string counters = "{}";       // JSON: what else the kernel counted (cell/counters.hpp)
  std::int64_t steal_ns = 0;
  std::int64_t duration_ns = 0;
  std::vector<LoadOutcome> loads;
  std::string others = "null";  // JSON: what other tasks took of the CPUs (cell/others.hpp)
  std::string knobs = "[]";     // JSON, after they were restored
  std::string outcomes = "{}";  // JSON: passes, failures and the like, where a test has them
  std::string helpers = "[]";   // JSON: what the kernel counted of a test's threads that record nothing
  std::string trace = {};       // JSON: names for what was recorded of the kernel; empty where nothing was
  bool balanced = true;         // the accounts agree
  bool took_place = true;       // no thread failed, and none was refused by what it measures with

  [[nodiscard]] bool valid() const {
    return took_place && balanced && clock_source_before == clock_source_after && loaded() &&
           stayed_on_stage();
  }
  [[nodiscard]] bool empty() const {
    return std::all_of(accounts.begin(), accounts.end(),
                       [](const LaneAccount& account) { return account.recorded == 0; });
  }
  // Whether no measuring thread left the stage of its real-time core while it measured.
  [[nodiscard]] bool stayed_on_stage() const {
    return std::all_of(accounts.begin(), accounts.end(),
                       [](const LaneAccount& account) { return account.core.switches <= 0; });
  }
  // Whether each load reached its goal (loads/base/goal.hpp).
  [[nodiscard]] bool loaded() const {
    return std::all_of(loads.begin(), loads.end(),
                       [](const LoadOutcome& load) { return load.not_loaded().empty(); });
  }
};

}  // namespace howlate
