#include "points/report.hpp"

#include <algorithm>

#include "cell/document_parts.hpp"
#include "sys/facts.hpp"

namespace howlate {

std::vector<PointsColumn> points_statistics(std::span<const ColumnSpec> columns,
                                            const std::vector<PointsTable>& tables) {
  std::vector<PointsColumn> all;
  for (std::size_t i = 1; i + 1 < columns.size(); ++i) {
    if (!columns[i].name.ends_with("_ns") || columns[i].name == "time_ns") continue;
    all.push_back({std::string(columns[i].name), {}});
    for (const PointsTable& table : tables) {
      const auto flags = table.columns.back();
      for (std::size_t row = 0; row < flags.size(); ++row)
        if ((flags[row] & point_warm_up) == 0) all.back().values.add(table.columns[i][row]);
    }
  }
  return all;
}

void mark_warm_up(std::vector<PointsTable>& tables, std::int64_t warm_up) {
  for (PointsTable& table : tables)
    for (std::int64_t row = 0; row < std::min(warm_up, table.rows); ++row)
      table.columns.back()[static_cast<std::size_t>(row)] |= point_warm_up;
}

std::string outcomes_json(const PointsOutcomes& outcomes) {
  JsonWriter json;
  json.begin_object();
  if (outcomes.passes) json.member("passes", *outcomes.passes);
  if (outcomes.failures) json.member("failures", *outcomes.failures);
  for (const auto& [name, value] : outcomes.figures)
    std::visit([&, &key = name](auto number) { json.member(key, number); }, value);
  return json.end_object().take();
}

std::string points_header_json(Cell& cell, const PointsPlan& plan, const PointsThreads& threads,
                               const PointsInForce& in_force, std::int64_t t0_ns) {
  JsonWriter json;
  begin_header(json, cell);
  json.member("switched_by_design", plan.switched_by_design);
  json.key("in_force").begin_object().key("threads").begin_array();
  for (const auto& run : threads.runs()) {
    const bool pinned = run->spec.cpus.size() == 1;
    json.begin_object().member("cpu", pinned ? run->spec.cpus.front() : -1).member("pinned", pinned);
    write_thread(json, run->thread.in_force());
    json.member("name", run->spec.name).member("records", run->spec.records).end_object();
  }
  json.end_array().member("memory_lock", in_force.memory_lock);
  json.key("recorder").begin_object().member("record", "memory").end_object();
  json.member_raw("loads", in_force.loads).member_raw("knobs", in_force.knobs).end_object();
  json.member_raw("facts", brief_facts_json(cell.root().at("/"))).member("t0_ns", t0_ns);
  json.key("tables").begin_array();
  std::size_t id = 0;
  for (const auto& run : threads.runs())
    if (run->spec.records)
      write_samples_table(json, id++, run->spec.cpus.size() == 1 ? run->spec.cpus.front() : -1, plan.columns);
  write_machine_tables(json, id);
  return json.end_array().end_object().take();
}

void write_helper(JsonWriter& json, const PointsThreadRun& run) {
  json.begin_object().member("name", run.spec.name);
  json.member("cpu", run.spec.cpus.size() == 1 ? run.spec.cpus.front() : -1);
  json.member("minor_faults", run.counters.minor_faults).member("major_faults", run.counters.major_faults);
  json.member("involuntary_switches", run.counters.involuntary_switches);
  json.member("voluntary_switches", run.counters.voluntary_switches);
  json.member("migrations", run.counters.migrations).end_object();
}

std::string points_summary_json(const PointsReport& report) {
  JsonWriter json;
  begin_summary(json, report.cell, report.plan.labels);
  write_joined_account(json, report.outcome, "");
  write_end(json, report.outcome);
  json.key("columns").begin_object();
  for (const PointsColumn& column : report.columns) {
    json.key(column.name).begin_object();
    write_values(json, column.values);
    json.end_object();
  }
  json.end_object();
  end_summary(json, report.cell, report.outcome);
  return json.take() + "\n";
}

}  // namespace howlate
