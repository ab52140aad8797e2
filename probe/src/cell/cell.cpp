#include "cell/cell.hpp"

#include <algorithm>
#include <cstdio>

#include "cell/document.hpp"
#include "cell/lanes.hpp"
#include "cell/live.hpp"
#include "cell/recorder.hpp"
#include "cell/surroundings.hpp"
#include "core/text.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"
#include "sys/trace.hpp"

namespace howlate {

namespace {

constexpr std::int64_t look_again_ns = 100'000'000;
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

// Rows that the sampler must be able to hold until they are written.
std::size_t sampler_rows(const CellPlan& plan, std::size_t cpus, std::size_t loads) {
  double length_ns = static_cast<double>(plan.duration_ns);
  if (plan.duration_ns == 0)
    length_ns = static_cast<double>(plan.schedule.period_ns) *
                static_cast<double>(plan.lanes.front()->loop.activations_wanted);
  const double seconds = plan.record == RecordMode::memory ? length_ns / 1e9 * 2 + 60 : 60;
  return static_cast<std::size_t>(std::min(seconds, 1e6)) * std::max({cpus, loads, std::size_t{1}});
}

// What a lane's mark needs when its threshold is passed.
struct TraceMark {
  const Trace* trace;
  std::int64_t stagger_ns;
};

void mark_trace(void* context, const Sample& sample) {
  const TraceMark& lane = *static_cast<const TraceMark*>(context);
  char mark[128];
  const int length =
      std::snprintf(mark, sizeof mark, "howlate: latency %lld ns at release %lld, %lld ns after t0\n",
                    static_cast<long long>(sample.latency_ns), static_cast<long long>(sample.release),
                    static_cast<long long>(sample.release_ns + lane.stagger_ns));
  lane.trace->mark_and_stop({mark, static_cast<std::size_t>(length)});
}

}  // namespace

// One measurement, in the order of its steps. What a step made is undone in reverse when it goes.
class CellRun {
 public:
  CellRun(Cell& cell, CellPlan& plan) : cell_(cell), plan_(plan), allowed_(read_affinity()) {
    measuring_ = measuring_cpus(plan, allowed_);
    around_.emplace(cell, allowed_, measuring_);
  }

  Result<ExitCode> run();
  // What can refuse the cell before anything is started or changed.
  Status check();

 private:
  Status prepare();  // rings, threads, memory lock, recorder
  void measure();
  void watch();
  void conclude();
  void balance();  // the account
  [[nodiscard]] InForce in_force() const;

  Cell& cell_;
  CellPlan& plan_;
  std::vector<int> allowed_;
  std::vector<int> measuring_;
  std::optional<Trace> trace_;
  std::vector<TraceMark> marks_;  // of the lanes
  Sink sink_;
  std::optional<Surroundings> around_;
  std::optional<Bell> bell_;
  std::optional<SystemSampler> sampler_;
  std::optional<Lanes> lanes_;
  std::optional<Recorder> recorder_;
  std::optional<MemoryLock> memory_;
  std::optional<Live> live_;
  RecorderPlace place_;
  std::size_t ring_samples_ = 0;
  std::size_t sampler_rows_ = 0;
  CellOutcome outcome_;
  Statistics statistics_;
  std::vector<std::string> mismatches_;
};

Result<ExitCode> Cell::measure(CellPlan plan) {
  CellRun run(*this, plan);
  if (!only_checks()) return run.run();
  if (const Status right = run.check(); !right) return right.error();
  return ExitCode::done;
}

Result<ExitCode> CellRun::run() {
  Status ready = check();
  if (ready) ready = around_->begin();
  if (ready) ready = prepare();
  if (!ready) {
    recorder_.reset();
    lanes_.reset();
    return around_->give_up(ready.error());
  }
  measure();
  conclude();
  const Status written = write_trailer(sink_, outcome_, cell_.warnings());
  const auto json = [this] { return summary_json(cell_, plan_, outcome_, statistics_); };
  print_report(cell_, json, [this] { return summary_text(cell_, plan_, outcome_, statistics_); });
  if (!written) return written.error();
  if (!mismatches_.empty()) return broken("the account does not agree: " + mismatches_.front());
  for (const auto& run : lanes_->runs())
    if (!run->status) return run->status.error();
  if (const Status& restored = around_->restored(); !restored) return restored.error();
  return outcome_.reason == StopReason::threshold ? ExitCode::failed : ExitCode::done;
}

Status CellRun::check() {
  sampler_rows_ = sampler_rows(plan_, online_cpus(cell_.root()).size(), cell_.params().texts("load").size());
  const auto samples =
      choose_ring_samples(plan_, memory_available(cell_.root()), SystemSampler::memory_bytes(sampler_rows_));
  if (!samples) return samples.error();
  ring_samples_ = *samples;
  place_ = choose_recorder_place(plan_.lanes, allowed_, measuring_);
  if (!place_.why_other.empty())
    cell_.warn("the recorder runs as 'other' and can starve: " + place_.why_other);
  if (const std::string ring = short_ring_warning(plan_, ring_samples_); !ring.empty()) cell_.warn(ring);
  if (plan_.break_trace) {
    auto trace = Trace::open(cell_.root());
    if (!trace) return trace.error();
    trace_.emplace(std::move(*trace));
    if (!trace_->was_on())
      cell_.warn("the kernel's trace is off (tracing_on is 0), so --break-trace will stop nothing");
  }
  if (cell_.only_checks()) return around_->check();
  auto sink = open_sink(cell_.params());
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  return {};
}

Status CellRun::prepare() {
  auto bell = Bell::make();
  if (!bell) return bell.error();
  bell_.emplace(std::move(*bell));
  const std::size_t tables = plan_.lanes.size();
  const SamplerSpec sampled{cell_.root(), measuring_, static_cast<std::uint16_t>(tables), sampler_rows_};
  sampler_.emplace(sampled, around_->loads());
  marks_.reserve(tables);  // the lanes keep pointers to them
  for (auto& lane : plan_.lanes) {
    if (plan_.threshold_ns != 0) lane->loop.threshold_ns = plan_.threshold_ns;
    lane->loop.stop_at_threshold = plan_.threshold_ns != 0;
    if (!trace_) continue;
    marks_.push_back({&*trace_, lane->stagger_ns});
    lane->loop.on_threshold = mark_trace;
    lane->loop.on_threshold_context = &marks_.back();
  }
  lanes_.emplace(cell_.root(), *bell_);
  lanes_->when_over([this] { around_->loads().close(); });
  if (Status made = lanes_->make(plan_.lanes, ring_samples_); !made) return made;
  if (Status started = lanes_->start(allowed_, [this] { return around_->enter_cpuset(); }); !started)
    return started;
  recorder_.emplace(plan_, cell_.test().columns, *lanes_, *sampler_, sink_, *bell_);
  recorder_->when_near([this] { around_->loads().mark(); });
  if (Status started = recorder_->start(place_, cell_.root()); !started) return started;
  const bool rt_lanes = std::any_of(plan_.lanes.begin(), plan_.lanes.end(),
                                    [](const auto& lane) { return lane->policy.real_time(); });
  if (!recorder_->not_had().empty() && rt_lanes)  // ordinary ones starve beside it
    cell_.warn("the recorder runs as 'other' and can starve: " + recorder_->not_had());
  memory_.emplace(MemoryLock::take(cell_.root()));
  if (memory_->scope() == "none") cell_.warn(memory_->why_not());
  touch_mapped();
  return {};
}

InForce CellRun::in_force() const {
  InForce now;
  for (const auto& run : lanes_->runs()) now.threads.push_back(run->thread.in_force());
  now.memory_lock = memory_->scope();
  now.recorder_place = place_;
  now.recorder = recorder_->in_force();
  now.recorder_not_had = recorder_->not_had();
  now.ring_samples = ring_samples_;
  now.loads = around_->loads_json();
  now.knobs = around_->knobs_json();
  return now;
}

void CellRun::measure() {
  around_->read_before(outcome_);
  std::string header = header_json(cell_, plan_, in_force(), t0_placeholder);
  const std::string placeholder = std::to_string(t0_placeholder);
  const std::size_t at = header.find(placeholder);
  recorder_->begin([=](std::int64_t t0_ns) {
    std::string text = header;
    return text.replace(at, placeholder.size(), std::to_string(t0_ns));
  });
  live_.emplace(cell_.params());
  watch();
  lanes_->join();
  for (const auto& run : lanes_->runs())
    outcome_.duration_ns = std::max(outcome_.duration_ns, run->lane.loop.ended_ns + run->lane.stagger_ns);
  recorder_->finish();
  live_->clear();
}

void CellRun::watch() {
  bool begun = false;
  while (!lanes_->ended()) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (!begun && recorder_->t0_ns() != 0) {
      begun = true;
      live_->begin(recorder_->t0_ns());
    }
    std::int64_t until_ns = now_ns + look_again_ns;
    if (begun) live_->show(now_ns, lanes_->activations(), lanes_->latency_ns_max());
    if (lanes_->stopping()) {
      lanes_->kick();
      until_ns = now_ns + kick_again_ns;
    }
    if (begun) until_ns = std::min(until_ns, live_->due_ns());
    static_cast<void>(bell_->wait(around_->signals(), until_ns));
    if (take_signal(around_->signals()) != 0 || recorder_->failed() || lanes_->one_has_ended_early())
      lanes_->stop();
  }
}

void CellRun::conclude() {
  around_->read_after(outcome_);
  outcome_.steal_ns = sampler_->steal_ns();
  if (sampler_->lost() != 0)
    cell_.warn(std::to_string(sampler_->lost()) + " rows about the machine could not be kept");
  around_->end(outcome_);
  balance();
  statistics_ = join_tallies(*recorder_, plan_.lanes.size());
}

void CellRun::balance() {
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
      cell_.warn(std::to_string(dropped) + " samples of thread " + std::to_string(lane) +
                 " were dropped: the result is incomplete");
  }
  outcome_.reason = recorder_->failed() ? StopReason::failed : join_reasons(reasons);
  outcome_.balanced = mismatches_.empty();
  for (const std::string& mismatch : mismatches_) cell_.warn("the account does not agree: " + mismatch);
}

}  // namespace howlate
