#include "cell/document.hpp"

#include "cell/document_parts.hpp"
#include "sys/facts.hpp"

namespace howlate {

namespace {

void write_tables(JsonWriter& json, const Test& test, const CellPlan& plan) {
  json.key("tables").begin_array();
  std::size_t id = 0;
  for (const auto& lane : plan.lanes) write_samples_table(json, id++, lane->cpu, test.columns);
  write_machine_tables(json, id);
  json.end_array();
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

}  // namespace

std::string header_json(Cell& cell, const CellPlan& plan, const InForce& in_force, std::int64_t t0_ns) {
  JsonWriter json;
  begin_header(json, cell);
  write_in_force(json, plan, in_force);
  json.member_raw("facts", brief_facts_json(cell.root().at("/"))).member("t0_ns", t0_ns);
  write_tables(json, cell.test(), plan);
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

void write_statistics(JsonWriter& json, const CellPlan& plan, const Statistics& all) {
  json.key("columns").begin_object().key("latency_ns").begin_object();
  write_values(json, all.latency);
  json.member("period_exceeded", all.period_exceeded);
  json.member("max_at_s", static_cast<double>(all.max_at_ns) / 1e9);
  if (plan.deadline_ns != 0)
    json.member("deadline_ns", plan.deadline_ns).member("deadline_misses", all.deadline_misses);
  json.end_object().end_object();
}

}  // namespace

std::string summary_json(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics) {
  JsonWriter json;
  begin_summary(json, cell, plan.labels);
  write_joined_account(json, outcome, late_policy_name(plan.lanes.front()->loop.late_policy));
  write_end(json, outcome);
  write_statistics(json, plan, statistics);
  end_summary(json, cell, outcome);
  return json.take() + "\n";
}

}  // namespace howlate
