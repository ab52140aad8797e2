// The stream's header and trailer, and the summary as JSON (docs/stream.md, docs/probe.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cell/account.hpp"
#include "cell/cell.hpp"
#include "cell/recorder.hpp"
#include "core/histogram.hpp"
#include "core/json.hpp"

namespace howlate {

// What was asked for and read back.
struct InForce {
  std::vector<ThreadInForce> threads;
  std::string memory_lock;  // "all", "present", "none"
  RecorderPlace recorder_place;
  ThreadInForce recorder;
  std::string recorder_not_had;
  std::size_t ring_samples = 0;
  std::string loads = "[]";  // JSON
  std::string knobs = "[]";  // JSON
};

std::string header_json(Cell& cell, const CellPlan& plan, const InForce& in_force, std::int64_t t0_ns);

// The statistics of all lanes together.
struct Statistics {
  Histogram latency;
  std::int64_t period_exceeded = 0;
  std::int64_t deadline_misses = 0;
  std::int64_t max_at_ns = 0;
};
Statistics join_tallies(const Recorder& recorder, std::size_t lanes);

std::string summary_json(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics);
std::string summary_text(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics);

}  // namespace howlate
