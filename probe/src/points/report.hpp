// The results of a run of data points: the statistics of its columns and the test's own outcomes, in the summary.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/histogram.hpp"
#include "core/json.hpp"
#include "points/points.hpp"

namespace howlate {

// The statistics of one column, over all recording threads.
struct PointsColumn {
  std::string name;
  Histogram values;
};

struct PointsFindings {
  std::vector<PointsColumn> columns;
  PointsOutcomes outcomes;

  void write_statistics(JsonWriter& json) const;   // a member a column
  void write_statistics(std::string& text) const;  // a table of the columns, passes and failures
  void write_histograms(std::string& text) const;  // of each column
};

// Every column of times that are results: names that end in _ns, but not `time_ns`, where a point lies.
std::vector<PointsColumn> points_statistics(std::span<const ColumnSpec> columns,
                                            const std::vector<PointsTable>& tables);

std::string outcomes_json(const PointsOutcomes& outcomes);

}  // namespace howlate
