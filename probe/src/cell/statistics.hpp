// The statistics of a schedule's activations, all lanes together, as they stand in the summary.
#pragma once

#include <cstdint>
#include <string>

#include "cell/cell.hpp"
#include "cell/recorder.hpp"
#include "core/histogram.hpp"
#include "core/json.hpp"
#include "core/text_histogram.hpp"

namespace howlate {

struct Statistics {
  Histogram latency;
  std::int64_t period_exceeded = 0;
  std::int64_t deadline_misses = 0;
  std::int64_t max_at_ns = 0;
};
Statistics join_tallies(const Recorder& recorder, std::size_t lanes);

void write_latency(JsonWriter& json, const CellPlan& plan, const Statistics& all);  // the member `latency_ns`
void write_latency(std::string& out, const CellPlan& plan, const Statistics& all, std::int64_t duration_ns);

}  // namespace howlate
