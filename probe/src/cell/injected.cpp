#include "cell/injected.hpp"

#include <algorithm>

#include "cell/document_parts.hpp"
#include "cell/table.hpp"
#include "core/text.hpp"
#include "sys/elsewhere.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec columns[] = {
    {"begin_ns", ColumnType::i64, "the delay's first time stamp, as an offset from t0"},
    {"end_ns", ColumnType::i64, "its last"},
    {"wanted_ns", ColumnType::i64, "the length asked for"},
    {"cpu", ColumnType::i32, "the CPU that was delayed"},
    {"pid", ColumnType::i32, "the task in whose context it was; 0 if none"},
    {"state", ColumnType::u8, "bit 0: it could not be made as wanted"},
    {"uncertainty_ns", ColumnType::i64, "by how much the end may lie before or after end_ns"},
};

// How many releases a lane can serve.
std::int64_t releases_of(const CellPlan& plan, const MeasuringThread& lane) {
  ScheduleSpec schedule = plan.schedule;
  schedule.t0_ns = 0;
  const std::int64_t due =
      plan.duration_ns == 0 ? INT64_MAX : Schedule(schedule).due_by(plan.duration_ns - 1);
  return std::min(due, lane.loop.activations_wanted);
}

// Whether one of its releases is to have a delay, given a gap that has room for it.
bool wants_delay(const InjectSpec& spec, std::int64_t releases) {
  return releases - 1 >= spec.every;
}

}  // namespace

Status Injected::check(const CellPlan& plan, const Root& root) const {
  const auto& lanes = plan.lanes;
  if (std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->cpu < 0; }))
    return usage_error("--inject delays threads that are pinned to a CPU",
                       "Choose --policy fifo:80, and leave the cpuset out");
  if (wish_.kind->in_work && lanes.front()->loop.late_policy != LatePolicy::backlog)
    return usage_error("--inject " + std::string(wish_.kind->name) +
                           " is made in an activation's work: the release that passes meanwhile would be an "
                           "overrun and have no latency",
                       "Give --late-policy backlog too");
  return if_here(wish_.kind->available(root));
}

Status Injected::set_up(CellPlan& plan, const std::vector<int>& allowed, const Root& root) {
  plan_.allowed = allowed;
  plan_.round_ns = wish_.spec.round_ns;
  ScheduleSpec schedule = plan.schedule;
  schedule.t0_ns = 0;
  bool wanted = false, planned = false;
  for (const auto& lane : plan.lanes) {
    InjectSpec spec = wish_.spec;
    spec.seed += plan_.lanes.size();
    const std::int64_t releases = releases_of(plan, *lane);
    plan_.lanes.push_back({lane->cpu, lane->policy, lane->stagger_ns, plan_delays(spec, schedule, releases)});
    wanted = wanted || wants_delay(spec, releases);
    planned = planned || !plan_.lanes.back().delays.empty();
  }
  if (wanted && !planned)
    return usage_error("no gap between releases has room for a delay",
                       "Give a longer --period, or a smaller --inject-round");
  run_ = wish_.kind->make(root);
  if (Status made = run_->set_up(plan_); !made || !wish_.kind->in_work) return made;
  workers_.reserve(plan.lanes.size());  // the lanes keep pointers to them
  for (const auto& lane : plan.lanes) {
    workers_.push_back({run_.get(), &lane->loop, workers_.size()});
    lane->loop.on_work = work;
    lane->loop.on_work_context = &workers_.back();
    lane->loop.work_iterations = std::max<std::int64_t>(lane->loop.work_iterations, 1);
  }
  return {};
}

void Injected::work(void* context, const Sample& sample) {
  const Worker& worker = *static_cast<const Worker*>(context);
  worker.run->work(worker.lane, worker.loop->schedule.spec().t0_ns, sample);
}

void Injected::end() {
  auto made = run_->end();
  if (made)
    made_ = std::move(*made);
  else if (status_)
    status_ = made.error();
}

void Injected::write_in_force(JsonWriter& json) const {
  std::size_t planned = 0, aimed = 0;
  for (const InjectLane& lane : plan_.lanes)
    for (const PlannedDelay& one : lane.delays) {
      ++planned;
      aimed += one.aimed ? 1 : 0;
    }
  json.key("inject").begin_object().member("kind", wish_.kind->name);
  json.member("size_ns_min", wish_.spec.sizes.least_ns).member("size_ns_max", wish_.spec.sizes.most_ns);
  json.member("every", wish_.spec.every).member("seed", wish_.spec.seed);
  json.member("round_ns", wish_.spec.round_ns);
  json.member("planned", planned).member("aimed", aimed).end_object();
}

void Injected::write_table(JsonWriter& json, std::size_t id) const {
  write_table_of(json, id, "injections", columns);
}

void Injected::write_rows(Sink& sink, std::size_t id, std::int64_t t0_ns) const {
  if (made_.empty()) return;
  TableWriter table(static_cast<std::uint16_t>(id), columns, made_.size());
  for (const MadeDelay& one : made_)
    table.add({one.begin_ns - t0_ns, one.end_ns - t0_ns, one.wanted_ns, one.cpu, one.pid,
               one.as_wanted ? 0 : 1, one.uncertainty_ns});
  table.flush(sink);
}

}  // namespace howlate
