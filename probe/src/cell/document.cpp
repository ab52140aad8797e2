#include "cell/document.hpp"

#include <array>

#include "core/version.hpp"
#include "sys/facts.hpp"

namespace howlate {

namespace {

std::string boot_id(const Root& root) {
  return read_text(root.at("/proc/sys/kernel/random/boot_id")).value_or("");
}

void write_columns(JsonWriter& json, std::span<const ColumnSpec> columns) {
  json.key("columns").begin_array();
  for (const ColumnSpec& column : columns) {
    json.begin_object().member("name", column.name).member("type", column_type_name(column.type));
    json.member("help", column.help).end_object();
  }
  json.end_array();
}

void write_tables(JsonWriter& json, const Test& test, const CellPlan& plan) {
  json.key("tables").begin_array();
  std::size_t id = 0;
  for (const auto& lane : plan.lanes) {
    json.begin_object()
        .member("id", id)
        .member("name", "samples")
        .member("cpu", lane->cpu)
        .member("thread", id);
    write_columns(json, test.columns);
    json.end_object();
    ++id;
  }
  json.begin_object().member("id", id).member("name", "cpus");
  write_columns(json, cpus_columns());
  json.end_object().begin_object().member("id", id + 1).member("name", "loads");
  write_columns(json, loads_columns());
  json.end_object().end_array();
}

void write_thread(JsonWriter& json, const ThreadInForce& thread) {
  json.member("cpus", cpu_list_text(thread.cpus)).member("policy", policy_text(thread.policy));
  json.member("priority", thread.policy.priority).member("timer_slack_ns", thread.timer_slack_ns);
}

void write_recorder(JsonWriter& json, const CellPlan& plan, const InForce& in_force) {
  json.key("recorder").begin_object();
  json.member("place", in_force.recorder_place.in_gaps ? "in the gaps of the measuring threads"
                                                       : "on a CPU of its own");
  write_thread(json, in_force.recorder);
  json.member("record", plan.record == RecordMode::memory ? "memory" : "stream");
  json.member("ring_samples", in_force.ring_samples).member("wake_ns", Recorder::wake_ns);
  json.member("write_bytes_max",
              in_force.recorder_place.in_gaps ? Recorder::gap_write_bytes : std::size_t{0});
  json.member("policy_wanted", policy_text(in_force.recorder_place.policy))
      .member("not_had", in_force.recorder_not_had);
  json.end_object();
}

void write_in_force(JsonWriter& json, const CellPlan& plan, const InForce& in_force) {
  json.key("in_force").begin_object().key("threads").begin_array();
  for (std::size_t i = 0; i < in_force.threads.size(); ++i) {
    json.begin_object().member("cpu", plan.lanes[i]->cpu).member("pinned", plan.lanes[i]->cpu >= 0);
    write_thread(json, in_force.threads[i]);
    json.member("cpuset", cpu_list_text(plan.lanes[i]->cpuset));
    json.member("stagger_ns", plan.lanes[i]->stagger_ns)
        .member("work_iterations", plan.lanes[i]->loop.work_iterations);
    json.end_object();
  }
  json.end_array().member("memory_lock", in_force.memory_lock);
  write_recorder(json, plan, in_force);
  json.member_raw("loads", in_force.loads).member_raw("knobs", in_force.knobs).end_object();
}

void write_account(JsonWriter& json, const LaneAccount& account) {
  json.begin_object().member("table", account.table).member("cpu", account.cpu);
  json.member("releases", account.releases).member("recorded", account.recorded);
  json.member("overruns", account.overruns).member("dropped", account.dropped);
  json.member("late_starts", account.late_starts)
      .member("early", account.early)
      .member("warm_up", account.warm_up);
  json.member("latency_ns_max", account.latency_ns_max).member("release_at_max", account.release_at_max);
  json.member("deadline_misses", account.deadline_misses);
  json.member("minor_faults", account.counters.minor_faults)
      .member("major_faults", account.counters.major_faults);
  json.member("involuntary_switches", account.counters.involuntary_switches);
  json.member("voluntary_switches", account.counters.voluntary_switches);
  json.member("migrations", account.counters.migrations);
  json.member("phase_before_ns", account.phase_before_ns)
      .member("phase_after_ns", account.phase_after_ns)
      .end_object();
}

template <class Value>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<Value>& value) {
  json.key(key);
  if (value) {
    json.value(*value);
  } else {
    json.null();
  }
}

void write_clock_source(JsonWriter& json, const CellOutcome& outcome) {
  json.key("clocksource").begin_object().member("before", outcome.clock_source_before);
  json.member("after", outcome.clock_source_after).end_object();
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

void write_loads(JsonWriter& json, const CellOutcome& outcome) {
  json.key("loads").begin_array();
  for (const LoadOutcome& load : outcome.loads) json.raw(load.to_json());
  json.end_array();
}

void write_warnings(JsonWriter& json, const std::vector<std::string>& warnings) {
  json.key("warnings").begin_array();
  for (const std::string& warning : warnings) json.value(warning);
  json.end_array();
}

}  // namespace

std::string header_json(Cell& cell, const CellPlan& plan, const InForce& in_force, std::int64_t t0_ns) {
  JsonWriter json;
  json.begin_object().member("stream", 1).member("probe", version()).member("test", cell.test().name);
  json.member("boot_id", boot_id(cell.root())).member_raw("parameters", cell.params().to_json());
  write_in_force(json, plan, in_force);
  json.member_raw("facts", brief_facts_json(cell.root().at("/"))).member("t0_ns", t0_ns);
  write_tables(json, cell.test(), plan);
  return json.end_object().take();
}

std::string trailer_json(const CellOutcome& outcome, const std::vector<std::string>& warnings) {
  JsonWriter json;
  json.begin_object().member("stop_reason", stop_reason_name(outcome.reason)).key("accounting").begin_array();
  for (const LaneAccount& account : outcome.accounts) write_account(json, account);
  json.end_array();
  write_clock_source(json, outcome);
  json.key("smi").begin_object();
  write_optional(json, "before", outcome.smi_before);
  write_optional(json, "after", outcome.smi_after);
  json.end_object();
  write_frequencies(json, outcome);
  json.key("thermal_throttle").begin_object();
  write_optional(json, "core_before", outcome.heat_before.core);
  write_optional(json, "core_after", outcome.heat_after.core);
  write_optional(json, "package_before", outcome.heat_before.package);
  write_optional(json, "package_after", outcome.heat_after.package);
  json.end_object();
  write_optional(json, "rt_throttled", outcome.rt_throttled);
  json.member("steal_ns", outcome.steal_ns).member("duration_ns", outcome.duration_ns);
  write_loads(json, outcome);
  json.member_raw("knobs", outcome.knobs);
  write_warnings(json, warnings);
  return json.end_object().take();
}

Statistics join_tallies(const Recorder& recorder, std::size_t lanes) {
  Statistics all;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Tally& tally = recorder.tally(lane);
    if (tally.latency().max() > all.latency.max()) all.max_at_ns = tally.max_at_ns();
    all.latency.merge(tally.latency());
    all.period_exceeded += tally.period_exceeded();
    all.deadline_misses += tally.deadline_misses();
  }
  return all;
}

namespace {

void write_joined_account(JsonWriter& json, const CellPlan& plan, const CellOutcome& outcome) {
  LaneAccount all;
  for (const LaneAccount& one : outcome.accounts) {
    all.releases += one.releases;
    all.recorded += one.recorded;
    all.overruns += one.overruns;
    all.dropped += one.dropped;
    all.late_starts += one.late_starts;
    all.early += one.early;
    all.warm_up += one.warm_up;
  }
  json.key("accounting").begin_object().member("releases", all.releases).member("recorded", all.recorded);
  json.member("overruns", all.overruns).member("dropped", all.dropped).member("late_starts", all.late_starts);
  json.member("early", all.early).member("warm_up", all.warm_up);
  json.member("late_policy", late_policy_name(plan.lanes.front()->loop.late_policy)).end_object();
}

void write_statistics(JsonWriter& json, const CellPlan& plan, const Statistics& all) {
  const Histogram& latency = all.latency;
  const bool any = latency.count() != 0;
  json.key("columns").begin_object().key("latency_ns").begin_object().member("count", latency.count());
  json.member("min", any ? latency.min() : 0)
      .member("mean", latency.mean())
      .member("max", any ? latency.max() : 0);
  json.member("stddev", latency.stddev()).member("period_exceeded", all.period_exceeded);
  json.key("quantiles").begin_object();
  constexpr std::array<std::pair<std::string_view, double>, 5> quantiles{
      {{"0.5", 0.5}, {"0.99", 0.99}, {"0.999", 0.999}, {"0.9999", 0.9999}, {"0.99999", 0.99999}}};
  for (const auto& [name, q] : quantiles) write_optional(json, name, latency.quantile(q));
  json.end_object().member("max_at_s", static_cast<double>(all.max_at_ns) / 1e9);
  if (plan.deadline_ns != 0)
    json.member("deadline_ns", plan.deadline_ns).member("deadline_misses", all.deadline_misses);
  json.end_object().end_object();
}

}  // namespace

std::string summary_json(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics) {
  JsonWriter json;
  json.begin_object().member("schema", 1).key("cells").begin_array().begin_object();
  json.member("id", cell.test().name).member("test", cell.test().name).key("labels").begin_object();
  for (const auto& [name, value] : plan.labels) json.member(name, value);
  json.end_object();
  write_joined_account(json, plan, outcome);
  json.member("stop_reason", stop_reason_name(outcome.reason));
  write_clock_source(json, outcome);
  json.member("valid", outcome.valid());
  write_statistics(json, plan, statistics);
  json.key("outcomes").begin_object().end_object().key("threads").begin_array();
  for (const LaneAccount& account : outcome.accounts) write_account(json, account);
  json.end_array();
  write_loads(json, outcome);
  write_warnings(json, cell.warnings());
  return json.end_object().end_array().end_object().take() + "\n";
}

}  // namespace howlate
