// What a run of data points says: the stream's header, and the summary as JSON and as text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cell/account.hpp"
#include "core/histogram.hpp"
#include "core/json.hpp"
#include "points/points.hpp"
#include "points/threads.hpp"

namespace howlate {

// The statistics of one column, over all recording threads, outside warm-up.
struct PointsColumn {
  std::string name;
  Histogram values;
};

// Of every column that holds times which are results: names that end in _ns, but not `time_ns`, where a point lies.
std::vector<PointsColumn> points_statistics(std::span<const ColumnSpec> columns,
                                            const std::vector<PointsTable>& tables);
// Sets the warm-up's bit in `flags` (the last column) of the first rows.
void mark_warm_up(std::vector<PointsTable>& tables, std::int64_t warm_up);

std::string outcomes_json(const PointsOutcomes& outcomes);

struct PointsInForce {
  std::string memory_lock;
  std::string loads, knobs;  // JSON
};
std::string points_header_json(Cell& cell, const PointsPlan& plan, const PointsThreads& threads,
                               const PointsInForce& in_force, std::int64_t t0_ns);

// What the kernel counted of a thread that records nothing.
void write_helper(JsonWriter& json, const PointsThreadRun& run);

struct PointsReport {
  Cell& cell;
  const PointsPlan& plan;
  const CellOutcome& outcome;
  const std::vector<PointsColumn>& columns;
  const PointsOutcomes& outcomes;
};
std::string points_summary_json(const PointsReport& report);
std::string points_summary_text(const PointsReport& report);

}  // namespace howlate
