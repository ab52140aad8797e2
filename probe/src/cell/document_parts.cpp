#include "cell/document_parts.hpp"

#include <array>

#include "cell/sampler.hpp"
#include "core/version.hpp"
#include "facts/base/command.hpp"
#include "sys/file.hpp"

namespace howlate {

namespace {

std::string boot_id(const Root& root) {
  return root.read_text("/proc/sys/kernel/random/boot_id").value_or("");
}

// Nothing for a timer of Linux's own; no switches for a handler, which is no thread.
void write_core(JsonWriter& json, const CoreAccount& core) {
  if (core.switches >= 0) json.member("stage_switches", core.switches);
  if (core.overruns >= 0) json.member("core_overruns", core.overruns);
  if (core.gravity_ns >= 0) json.member("gravity_ns", core.gravity_ns);
}

void write_warm_up(JsonWriter& json, const WarmUp& warm_up) {
  json.member("warm_up", 0);  // rows that are flagged so: of older probes
  json.key("before_t0").begin_object().member("releases", warm_up.releases);
  json.member("activations", warm_up.activations).member("overruns", warm_up.overruns).end_object();
}

void write_account(JsonWriter& json, const LaneAccount& account) {
  json.begin_object().member("table", account.table).member("cpu", account.cpu);
  json.member("releases", account.releases).member("recorded", account.recorded);
  json.member("overruns", account.overruns).member("dropped", account.dropped);
  json.member("late_starts", account.late_starts).member("early", account.early);
  write_warm_up(json, account.warm_up);
  json.member("latency_ns_max", account.latency_ns_max).member("release_at_max", account.release_at_max);
  json.member("deadline_misses", account.deadline_misses);
  write_counters(json, account.counters);
  json.member("phase_before_ns", account.phase_before_ns).member("phase_after_ns", account.phase_after_ns);
  write_core(json, account.core);
  json.end_object();
}

void write_clock_source(JsonWriter& json, const CellOutcome& outcome) {
  json.key("clocksource").begin_object().member("before", outcome.clock_source_before);
  json.member("after", outcome.clock_source_after).end_object();
}

void write_clocks(JsonWriter& json, const CellOutcome& outcome) {
  const ClockChanges changes =
      clock_changes(outcome.clocks_before, outcome.clocks_after, outcome.duration_ns);
  json.key("clocks").begin_object().member("suspended_ns", changes.suspended_ns);
  json.member("stepped_ns", changes.stepped_ns).member("slewed_ppm", changes.slewed_ppm).end_object();
}

void write_frequencies(JsonWriter& json, const CellOutcome& outcome) {
  json.key("frequency_khz").begin_array();
  for (const FrequencyReading& one : outcome.frequencies)
    json.begin_object()
        .member("cpu", one.cpu)
        .member("before", one.before_khz)
        .member("after", one.after_khz)
        .end_object();
  json.end_array();
}

void write_smi_counts(JsonWriter& json, const SmiReading& reading) {
  write_optional(json, "before", reading.before);
  write_optional(json, "after", reading.after);
}

// Of the first measuring CPU, for readers of older streams, and of each.
void write_smis(JsonWriter& json, const CellOutcome& outcome) {
  json.key("smi").begin_object();
  write_smi_counts(json, outcome.smis.empty() ? SmiReading() : outcome.smis.front());
  json.key("cpus").begin_array();
  for (const SmiReading& one : outcome.smis) {
    json.begin_object().member("cpu", one.cpu);
    write_smi_counts(json, one);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_loads(JsonWriter& json, const CellOutcome& outcome) {
  json.key("loads").begin_array();
  for (const LoadOutcome& load : outcome.loads) json.raw(load.to_json());
  json.end_array();
}

void write_warnings(JsonWriter& json, const std::vector<Warning>& warnings) {
  json.key("warnings").begin_array();
  for (const Warning& warning : warnings) json.value(warning.text);
  json.end_array().key("warning_rules").begin_array();
  for (const Warning& warning : warnings) json.value(warning.rule);
  json.end_array();
}

}  // namespace

void begin_header(JsonWriter& json, const Cell& cell) {
  json.begin_object().member("stream", 1).member("probe", version()).member("test", cell.test().name);
  json.member("boot_id", boot_id(cell.root())).member_raw("parameters", cell.params().to_json());
  json.key("given").begin_array();
  for (const std::string_view name : cell.params().given_names()) json.value(name);
  json.end_array();
}

void write_table_columns(JsonWriter& json, std::span<const ColumnSpec> columns) {
  json.key("columns").begin_array();
  for (const ColumnSpec& column : columns) {
    json.begin_object().member("name", column.name).member("type", column_type_name(column.type));
    json.member("help", column.help).member("answers", column.answers).end_object();
  }
  json.end_array();
}

void write_samples_table(JsonWriter& json, std::size_t id, int cpu, std::span<const ColumnSpec> columns) {
  json.begin_object().member("id", id).member("name", "samples").member("cpu", cpu).member("thread", id);
  write_table_columns(json, columns);
  json.end_object();
}

void write_table_of(JsonWriter& json, std::size_t id, std::string_view name,
                    std::span<const ColumnSpec> columns) {
  json.begin_object().member("id", id).member("name", name);
  write_table_columns(json, columns);
  json.end_object();
}

void write_machine_tables(JsonWriter& json, std::size_t first_id) {
  write_table_of(json, first_id, "cpus", cpus_columns());
  write_table_of(json, first_id + 1, "loads", loads_columns());
  write_table_of(json, first_id + 2, "counters", counters_columns());
}

void write_thread(JsonWriter& json, const ThreadInForce& thread) {
  json.member("cpus", cpu_list_text(thread.cpus)).member("policy", policy_text(thread.policy));
  json.member("priority", thread.policy.priority).member("timer_slack_ns", thread.timer_slack_ns);
}

void write_counters(JsonWriter& json, const ThreadCounters& counters) {
  json.member("minor_faults", counters.minor_faults).member("major_faults", counters.major_faults);
  json.member("involuntary_switches", counters.involuntary_switches);
  json.member("voluntary_switches", counters.voluntary_switches);
  json.member("migrations", counters.migrations).member("place_changed", counters.place != 0);
}

std::string trailer_json(const CellOutcome& outcome, const std::vector<Warning>& warnings) {
  JsonWriter json;
  json.begin_object().member("stop_reason", stop_reason_name(outcome.reason)).key("accounting").begin_array();
  for (const LaneAccount& account : outcome.accounts) write_account(json, account);
  json.end_array();
  write_clock_source(json, outcome);
  write_clocks(json, outcome);
  write_smis(json, outcome);
  write_frequencies(json, outcome);
  json.key("thermal_throttle").begin_object();
  write_optional(json, "core_before", outcome.heat_before.core);
  write_optional(json, "core_after", outcome.heat_after.core);
  write_optional(json, "package_before", outcome.heat_before.package);
  write_optional(json, "package_after", outcome.heat_after.package);
  json.end_object();
  write_optional(json, "rt_throttled", outcome.rt_throttled);
  json.member_raw("counters", outcome.counters);
  json.member("steal_ns", outcome.steal_ns).member("duration_ns", outcome.duration_ns);
  if (outcome.outcomes != "{}") json.member_raw("outcomes", outcome.outcomes);
  if (outcome.helpers != "[]") json.member_raw("helpers", outcome.helpers);
  write_loads(json, outcome);
  json.member_raw("others", outcome.others).member_raw("knobs", outcome.knobs);
  if (!outcome.trace.empty()) json.member_raw("trace", outcome.trace);
  write_warnings(json, warnings);
  return json.end_object().take();
}

void begin_summary(JsonWriter& json, const Cell& cell, const Labels& labels) {
  json.begin_object().member("schema", 1).key("cells").begin_array().begin_object();
  json.member("id", cell.test().name).member("test", cell.test().name).key("labels").begin_object();
  for (const auto& [name, value] : labels) json.member(name, value);
  json.end_object();
}

void write_joined_account(JsonWriter& json, const CellOutcome& outcome, std::string_view late_policy) {
  LaneAccount all;
  for (const LaneAccount& one : outcome.accounts) {
    all.releases += one.releases;
    all.recorded += one.recorded;
    all.overruns += one.overruns;
    all.dropped += one.dropped;
    all.late_starts += one.late_starts;
    all.early += one.early;
    all.warm_up.releases += one.warm_up.releases;
    all.warm_up.activations += one.warm_up.activations;
    all.warm_up.overruns += one.warm_up.overruns;
  }
  json.key("accounting").begin_object().member("releases", all.releases).member("recorded", all.recorded);
  json.member("overruns", all.overruns).member("dropped", all.dropped).member("late_starts", all.late_starts);
  json.member("early", all.early);
  write_warm_up(json, all.warm_up);
  json.member("late_policy", late_policy).end_object();
}

void write_end(JsonWriter& json, const CellOutcome& outcome) {
  json.member("stop_reason", stop_reason_name(outcome.reason));
  write_clock_source(json, outcome);
  json.member("valid", outcome.valid());
}

void write_values(JsonWriter& json, const Histogram& values) {
  json.member("count", values.count());
  const bool any = values.count() != 0;
  write_optional(json, "min", any ? std::optional(values.min()) : std::nullopt);
  write_optional(json, "mean", any ? std::optional(values.mean()) : std::nullopt);
  write_optional(json, "max", any ? std::optional(values.max()) : std::nullopt);
  write_optional(json, "stddev", any ? std::optional(values.stddev()) : std::nullopt);
  json.key("quantiles").begin_object();
  constexpr std::array<std::pair<std::string_view, double>, 5> quantiles{
      {{"0.5", 0.5}, {"0.99", 0.99}, {"0.999", 0.999}, {"0.9999", 0.9999}, {"0.99999", 0.99999}}};
  for (const auto& [name, q] : quantiles) write_optional(json, name, values.quantile(q));
  json.end_object();
}

void end_summary(JsonWriter& json, const Cell& cell, const CellOutcome& outcome) {
  json.member_raw("outcomes", outcome.outcomes).key("threads").begin_array();
  for (const LaneAccount& account : outcome.accounts) write_account(json, account);
  json.end_array();
  if (outcome.helpers != "[]") json.member_raw("helpers", outcome.helpers);
  write_loads(json, outcome);
  json.member_raw("others", outcome.others);
  write_warnings(json, cell.warnings());
  json.end_object().end_array().end_object();
}

}  // namespace howlate
