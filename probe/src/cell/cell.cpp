#include "cell/cell.hpp"

#include <algorithm>
#include <cstdio>

#include "cell/frame.hpp"
#include "cell/injected.hpp"
#include "cell/lanes.hpp"
#include "cell/recorder.hpp"
#include "cell/statistics.hpp"
#include "core/text.hpp"
#include "sys/clock.hpp"
#include "sys/trace.hpp"
#include "trace/explain.hpp"

namespace howlate {

namespace {

constexpr std::int64_t t0_placeholder = INT64_MIN;

std::vector<int> measuring_cpus(const CellPlan& plan, const std::vector<int>& allowed) {
  std::vector<int> cpus;
  for (const auto& lane : plan.lanes) {
    if (lane->cpu < 0 && lane->cpuset.empty()) return allowed;
    if (lane->cpu < 0) cpus.insert(cpus.end(), lane->cpuset.begin(), lane->cpuset.end());
    if (lane->cpu >= 0) cpus.push_back(lane->cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

// What is stopped when a lane's threshold is passed, at once: what led there must not be overwritten.
struct Traces {
  const std::unique_ptr<Explain>* explain;  // made after it; null without --explain
  const Trace* trace;                       // the kernel's, with --break-trace; else null
  std::int64_t stagger_ns;
};

void stop_traces(void* context, const Sample& sample) {
  const Traces& lane = *static_cast<const Traces*>(context);
  if (*lane.explain) (*lane.explain)->stop();
  if (lane.trace == nullptr) return;
  char mark[128];
  const int length =
      std::snprintf(mark, sizeof mark, "howlate: latency %lld ns at release %lld, %lld ns after t0\n",
                    static_cast<long long>(sample.latency_ns), static_cast<long long>(sample.release),
                    static_cast<long long>(sample.release_ns + lane.stagger_ns));
  lane.trace->mark_and_stop({mark, static_cast<std::size_t>(length)});
}

// Activations of a schedule: each thread leaves its samples in a ring, and the recorder takes them out.
class RingCell : public CellFrame {
 public:
  RingCell(Cell& cell, CellPlan& plan)
      : CellFrame(cell, measuring_cpus(plan, read_affinity()), plan.labels), plan_(plan) {}

 private:
  Status check() override;
  Status set_up() override;
  Status prepare() override;
  void undo() override;
  void begin() override;
  void look(std::int64_t now_ns) override;
  void join() override;
  void account() override;
  [[nodiscard]] Status right() const override;

  [[nodiscard]] std::int64_t t0_ns() const override { return recorder_->t0_ns(); }
  [[nodiscard]] bool ended() const override { return lanes_->group().ended(); }
  [[nodiscard]] bool stopping() const override { return lanes_->group().stopping(); }
  void stop() override { lanes_->group().stop(); }
  void kick() override { lanes_->group().kick(); }
  [[nodiscard]] SoFar so_far() const override { return lanes_->so_far(); }
  [[nodiscard]] double seconds_kept() const override;

  [[nodiscard]] std::vector<int> table_cpus() const override;
  void write_threads(JsonWriter& json) const override;
  void write_recorder(JsonWriter& json) const override;
  void write_in_force(JsonWriter& json) const override;
  void write_more_tables(JsonWriter& json, std::size_t first_id) const override;
  // After the two tables of the explanations.
  [[nodiscard]] std::size_t injections_at(std::size_t first_id) const {
    return first_id + (explain_ ? Explain::tables : 0);
  }
  [[nodiscard]] std::string_view late_policy() const override {
    return late_policy_name(plan_.lanes.front()->loop.late_policy);
  }
  void write_statistics(JsonWriter& json) const override { write_latency(json, plan_, statistics_); }
  void write_statistics(std::string& text) const override {
    write_latency(text, plan_, statistics_, outcome_.duration_ns);
    if (explain_) text += explain_->summary();
  }
  void write_histograms(std::string& text) const override {
    if (statistics_.latency.count() != 0) text += "\n" + text_histogram(statistics_.latency);
  }

  Status open_trace();
  Status start_explain();
  Status start_recorder();
  void warn_of_stages();

  CellPlan& plan_;
  std::optional<Trace> trace_;
  std::vector<Traces> traces_;        // of the lanes
  std::optional<Injected> injected_;  // the lanes call it
  std::unique_ptr<Explain> explain_;  // as they do at their threshold
  std::optional<Lanes> lanes_;
  std::optional<Recorder> recorder_;
  RecorderPlace place_;
  std::size_t ring_samples_ = 0;
  Statistics statistics_;
  std::vector<std::string> mismatches_;
};

Status RingCell::check() {
  const auto samples =
      choose_ring_samples(plan_, memory_available(cell_.root()), SystemSampler::memory_bytes(sampler_spec()));
  if (!samples) return samples.error();
  ring_samples_ = *samples;
  place_ = choose_recorder_place(plan_.lanes, allowed_, measuring_);
  if (!place_.why_other.empty())
    cell_.warn("probe.recorder-as-other", "the recorder runs as 'other' and can starve: " + place_.why_other);
  if (const std::string ring = short_ring_warning(plan_, ring_samples_); !ring.empty())
    cell_.warn("probe.ring-short", ring);
  if (plan_.inject) injected_.emplace(*plan_.inject);
  if (Status fits = injected_ ? injected_->check(plan_, cell_.root()) : Status(); !fits) return fits;
  if (plan_.explain.on)
    if (const Status possible = Explain::possible(cell_.root(), plan_.explain, plan_.lanes.size(),
                                                  measuring_.size(), memory_available(cell_.root()));
        !possible)
      return possible;
  return plan_.break_trace ? open_trace() : Status();
}

Status RingCell::set_up() {
  return injected_ ? injected_->set_up(plan_, allowed_, cell_.root()) : Status();
}

Status RingCell::open_trace() {
  auto trace = Trace::open(cell_.root());
  if (!trace) return trace.error();
  trace_.emplace(std::move(*trace));
  if (!trace_->was_on())
    cell_.warn("probe.trace-off",
               "the kernel's trace is off (tracing_on is 0), so --break-trace will stop nothing");
  return {};
}

Status RingCell::prepare() {
  traces_.reserve(plan_.lanes.size());  // the lanes keep pointers to them
  for (auto& lane : plan_.lanes) {
    if (plan_.threshold_ns != 0) lane->loop.threshold_ns = plan_.threshold_ns;
    lane->loop.stop_at_threshold = plan_.threshold_ns != 0;
    traces_.push_back({&explain_, trace_ ? &*trace_ : nullptr, lane->stagger_ns});
    lane->loop.on_threshold = stop_traces;
    lane->loop.on_threshold_context = &traces_.back();
  }
  lanes_.emplace(cell_.root(), *wake_fd_);
  lanes_->when_over([this] { around_.loads().close(); });
  if (Status made = lanes_->make(plan_.lanes, ring_samples_); !made) return made;
  if (cell_.params().flag("progress"))
    for (const auto& run : lanes_->runs()) run->bins = std::make_unique<LiveBins>();
  if (Status started = lanes_->start(allowed_, [this] { return around_.enter_cpuset(); }); !started)
    return started;
  std::vector<pid_t> threads;
  for (const auto& run : lanes_->runs()) threads.push_back(run->thread.in_force().tid);
  sampler_->counters().of_threads(std::move(threads));
  if (plan_.explain.on)
    if (Status started = start_explain(); !started) return started;
  return start_recorder();
}

Status RingCell::start_explain() {
  std::vector<TracedThread> threads;
  for (const auto& run : lanes_->runs()) {
    const ThreadInForce& in_force = run->thread.in_force();
    threads.push_back({in_force.cpus, in_force.tid, in_force.policy});
  }
  auto explain = Explain::begin(cell_.root(), plan_.explain, threads);
  if (!explain) return explain.error();
  explain_ = std::move(*explain);
  return {};
}

Status RingCell::start_recorder() {
  recorder_.emplace(plan_, cell_.test().columns, *lanes_, *sampler_, sink_, *wake_fd_);
  recorder_->when_near([this] { around_.loads().mark(); });
  if (explain_) recorder_->watch_with(explain_->watch());
  if (Status started = recorder_->start(place_, cell_.root()); !started) return started;
  const bool rt_lanes = std::any_of(plan_.lanes.begin(), plan_.lanes.end(),
                                    [](const auto& lane) { return lane->policy.real_time(); });
  if (!recorder_->not_had().empty() && rt_lanes)  // ordinary ones starve beside it
    cell_.warn("probe.recorder-as-other",
               "the recorder runs as 'other' and can starve: " + recorder_->not_had());
  return {};
}

void RingCell::undo() {
  recorder_.reset();
  explain_.reset();
  lanes_.reset();
  injected_.reset();
}

void RingCell::begin() {
  const std::string text = header(t0_placeholder);
  const std::string placeholder = std::to_string(t0_placeholder);
  const std::size_t at = text.find(placeholder);
  recorder_->begin([=, this](std::int64_t t0_ns) {
    if (injected_) injected_->begin(t0_ns);
    std::string with_t0 = text;
    return with_t0.replace(at, placeholder.size(), std::to_string(t0_ns));
  });
}

void RingCell::look(std::int64_t /*now_ns*/) {
  if (recorder_->failed() || lanes_->one_has_ended_early()) stop();
}

void RingCell::join() {
  lanes_->group().join();
  for (const auto& run : lanes_->runs())
    outcome_.duration_ns = std::max(outcome_.duration_ns, run->lane.loop.ended_ns + run->lane.stagger_ns);
  if (explain_) explain_->stop();
  recorder_->finish();
  if (injected_) injected_->end();
}

void RingCell::account() {
  std::vector<StopReason> reasons;
  for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
    const Tally& tally = recorder_->tally(lane);
    const TableWriter& table = recorder_->table(lane);
    const LaneRun& run = *lanes_->runs()[lane];
    outcome_.accounts.push_back(make_account(static_cast<int>(lane), run.lane, run.counters, tally,
                                             {recorder_->count_releases(lane), table.lost()}));
    const auto wrong = check_account(outcome_.accounts.back(), tally, table);
    mismatches_.insert(mismatches_.end(), wrong.begin(), wrong.end());
    reasons.push_back(run.lane.loop.stop_reason);
    if (const std::int64_t dropped = outcome_.accounts.back().dropped; dropped != 0)
      cell_.warn("probe.samples-dropped", std::to_string(dropped) + " samples of thread " +
                                              std::to_string(lane) +
                                              " were dropped: the result is incomplete");
  }
  warn_of_stages();
  outcome_.reason = recorder_->failed() ? StopReason::failed : join_reasons(reasons);
  outcome_.balanced = mismatches_.empty();
  for (const std::string& mismatch : mismatches_)
    cell_.warn("probe.account-wrong", "the account does not agree: " + mismatch);
  statistics_ = join_tallies(*recorder_, plan_.lanes.size());
  if (explain_) {
    explain_->finish(sink_, static_cast<std::uint16_t>(more_tables_at()), t0_ns());
    outcome_.trace = explain_->trailer_json();
    if (const auto why = explain_->incomplete()) cell_.warn("probe.cases-incomplete", *why);
  }
  if (injected_) injected_->write_rows(sink_, injections_at(more_tables_at()), t0_ns());
}

void RingCell::warn_of_stages() {
  for (const LaneAccount& account : outcome_.accounts)
    if (account.core.switches > 0)
      cell_.warn("probe.stage-switches",
                 "thread " + std::to_string(account.table) + " left the stage of its real-time core " +
                     std::to_string(account.core.switches) +
                     (account.core.switches == 1 ? " time" : " times") + " while it measured");
}

Status RingCell::right() const {
  if (!mismatches_.empty()) return broken("the account does not agree: " + mismatches_.front());
  for (const auto& run : lanes_->runs())
    if (!run->status) return run->status;
  return injected_ ? injected_->status() : Status();
}

// Rows that must be held until they are written.
double RingCell::seconds_kept() const {
  if (plan_.record != RecordMode::memory) return 60;
  const double length_ns = plan_.duration_ns != 0
                               ? static_cast<double>(plan_.duration_ns)
                               : static_cast<double>(plan_.schedule.period_ns) *
                                     static_cast<double>(plan_.lanes.front()->loop.activations_wanted);
  return length_ns / 1e9 * 2 + 60;
}

std::vector<int> RingCell::table_cpus() const {
  std::vector<int> cpus;
  for (const auto& lane : plan_.lanes) cpus.push_back(lane->cpu);
  return cpus;
}

void RingCell::write_threads(JsonWriter& json) const {
  for (const auto& run : lanes_->runs()) {
    const MeasuringThread& lane = run->lane;
    json.begin_object().member("cpu", lane.cpu).member("pinned", lane.cpu >= 0);
    write_thread(json, run->thread.in_force());
    json.member("cpuset", cpu_list_text(lane.cpuset)).member("stagger_ns", lane.stagger_ns);
    json.member("work_iterations", lane.loop.work_iterations).end_object();
  }
}

void RingCell::write_recorder(JsonWriter& json) const {
  json.member("place", place_.in_gaps ? "in the gaps of the measuring threads" : "on a CPU of its own");
  write_thread(json, recorder_->in_force());
  json.member("record", plan_.record == RecordMode::memory ? "memory" : "stream");
  json.member("ring_samples", ring_samples_).member("wake_ns", Recorder::wake_ns);
  json.member("write_bytes_max", place_.in_gaps ? Recorder::gap_write_bytes : std::size_t{0});
  json.member("policy_wanted", policy_text(place_.policy)).member("not_had", recorder_->not_had());
}

void RingCell::write_in_force(JsonWriter& json) const {
  if (explain_) explain_->write_in_force(json.key("trace"));
  if (injected_) injected_->write_in_force(json);
}

void RingCell::write_more_tables(JsonWriter& json, std::size_t first_id) const {
  if (explain_) Explain::write_tables(json, first_id);
  if (injected_) injected_->write_table(json, injections_at(first_id));
}

}  // namespace

Result<ExitCode> Cell::measure(CellPlan plan) {
  return RingCell(*this, plan).run();
}

}  // namespace howlate
