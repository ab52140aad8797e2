// The parts of header, trailer and summary that every kind of measurement has (docs/stream.md, docs/probe.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cell/account.hpp"
#include "cell/cell.hpp"
#include "core/histogram.hpp"
#include "core/json.hpp"

namespace howlate {

// Opens the header's object: from "stream" to "parameters".
void begin_header(JsonWriter& json, const Cell& cell);
// The member "columns" of a table.
void write_table_columns(JsonWriter& json, std::span<const ColumnSpec> columns);
// One table `samples` of a measuring thread; its number is the thread's too.
void write_samples_table(JsonWriter& json, std::size_t id, int cpu, std::span<const ColumnSpec> columns);
void write_table_of(JsonWriter& json, std::size_t id, std::string_view name,
                    std::span<const ColumnSpec> columns);
inline constexpr std::size_t machine_tables = 3;                    // `cpus`, `loads`, `counters`
void write_machine_tables(JsonWriter& json, std::size_t first_id);  // these
void write_thread(JsonWriter& json, const ThreadInForce& thread);
void write_counters(JsonWriter& json, const ThreadCounters& counters);  // what the kernel counted of it

std::string trailer_json(const CellOutcome& outcome, const std::vector<Warning>& warnings);

// Opens the summary's cell: from "schema" to "labels".
void begin_summary(JsonWriter& json, const Cell& cell, const Labels& labels);
void write_joined_account(JsonWriter& json, const CellOutcome& outcome, std::string_view late_policy);
void write_end(JsonWriter& json, const CellOutcome& outcome);  // why it ended, clock source, validity
// The statistics of one column, in an open object: count, min, mean, max, stddev, quantiles.
void write_values(JsonWriter& json, const Histogram& values);
// The rest of the cell, and closes it: outcomes, threads, loads, warnings.
void end_summary(JsonWriter& json, const Cell& cell, const CellOutcome& outcome);

template <class Value>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<Value>& value) {
  json.key(key);
  if (value) {
    json.value(*value);
  } else {
    json.null();
  }
}

}  // namespace howlate
