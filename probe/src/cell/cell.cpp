#include "cell/cell.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "cell/document.hpp"
#include "cell/lanes.hpp"
#include "cell/live.hpp"
#include "cell/recorder.hpp"
#include "core/text.hpp"
#include "sys/clock.hpp"
#include "sys/knobs.hpp"
#include "sys/process.hpp"
#include "sys/trace.hpp"

namespace howlate {

namespace {

constexpr std::int64_t kick_again_ns = 5'000'000;
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

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

Result<Sink> open_sink(const Params& params) {
  if (!params.is_set("stream")) return Sink();
  auto file = AppendFile::create(params.text("stream"));
  if (!file) return file.error();
  return Sink(std::move(*file));
}

std::string loads_json(const LoadSet& loads) {
  JsonWriter json;
  json.begin_array();
  for (std::size_t i = 0; i < loads.size(); ++i)
    json.begin_object()
        .member("name", loads.name(i))
        .member("spec", loads.spec(i))
        .member("pid", loads.pid(i))
        .end_object();
  return json.end_array().take();
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
  }

  Result<ExitCode> run();

 private:
  Error give_up(Error error);
  Status check();
  Status surround();  // knobs, loads
  Status prepare();   // rings, threads, memory lock, recorder
  void measure();
  void watch();
  void conclude();
  void look_for_throttling();
  void end_surroundings();  // loads, knobs
  void balance();           // the account
  Status write_trailer();
  void report() const;
  [[nodiscard]] InForce in_force() const;
  [[nodiscard]] std::optional<std::int64_t> read_smi() const;

  Cell& cell_;
  CellPlan& plan_;
  std::vector<int> allowed_;
  std::vector<int> measuring_;
  std::optional<Trace> trace_;
  std::vector<TraceMark> marks_;  // of the lanes
  Sink sink_;
  Fd signals_;
  KnobSet knobs_;
  LoadSet loads_;
  std::optional<Bell> bell_;
  std::optional<SystemSampler> sampler_;
  std::optional<Lanes> lanes_;
  std::optional<Recorder> recorder_;
  std::optional<MemoryLock> memory_;
  std::optional<RtThrottling> rt_throttling_;
  std::optional<Live> live_;
  RecorderPlace place_;
  std::size_t ring_samples_ = 0;
  std::size_t sampler_rows_ = 0;
  CellOutcome outcome_;
  Status restored_;  // of the knobs
  Statistics statistics_;
  std::vector<std::string> mismatches_;
};

Result<ExitCode> Cell::measure(CellPlan plan) {
  return CellRun(*this, plan).run();
}

Result<ExitCode> CellRun::run() {
  for (Status (CellRun::*step)() : {&CellRun::check, &CellRun::surround, &CellRun::prepare})
    if (const Status status = (this->*step)(); !status) return give_up(status.error());
  measure();
  conclude();
  const Status written = write_trailer();
  report();
  if (!written) return written.error();
  if (!mismatches_.empty()) return broken("the account does not agree: " + mismatches_.front());
  for (const auto& run : lanes_->runs())
    if (!run->status) return run->status.error();
  if (!restored_) return restored_.error();
  return outcome_.reason == StopReason::threshold ? ExitCode::failed : ExitCode::done;
}

// Before anything was measured: ends what was started, and says so if a knob stays changed.
Error CellRun::give_up(Error error) {
  recorder_.reset();
  lanes_.reset();
  loads_ = LoadSet();
  if (const Status restored = knobs_.restore(); !restored)
    return broken(error.message + "; and " + restored.error().message, restored.error().remedy);
  return error;
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
  auto sink = open_sink(cell_.params());
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  return {};
}

Status CellRun::surround() {
  auto signals = take_end_signals();
  if (!signals) return signals.error();
  signals_ = std::move(*signals);
  KnobContext context;
  context.root = cell_.root().at("/");
  context.measuring_cpus = measuring_;
  auto knobs = KnobSet::apply(cell_.params().texts("knob"), context);
  if (!knobs) return knobs.error();
  knobs_ = std::move(*knobs);
  auto loads = LoadSet::start(cell_.params().texts("load"), measuring_);
  if (!loads) return loads.error();
  loads_ = std::move(*loads);
  if (const auto others = without(allowed_, measuring_); !others.empty())
    if (const Status moved = set_affinity(others); !moved) cell_.warn(moved.error().message);
  return {};
}

Status CellRun::prepare() {
  auto bell = Bell::make();
  if (!bell) return bell.error();
  bell_.emplace(std::move(*bell));
  const std::size_t tables = plan_.lanes.size();
  const SamplerSpec sampled{cell_.root(), measuring_, static_cast<std::uint16_t>(tables), sampler_rows_};
  sampler_.emplace(sampled, loads_);
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
  if (Status made = lanes_->make(plan_.lanes, ring_samples_); !made) return made;
  if (Status started = lanes_->start(allowed_, [this] { return knobs_.enter_cpuset(); }); !started)
    return started;
  recorder_.emplace(plan_, cell_.test().columns, *lanes_, *sampler_, sink_, *bell_);
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
  now.loads = loads_json(loads_);
  now.knobs = knobs_.to_json();
  return now;
}

std::optional<std::int64_t> CellRun::read_smi() const {
  const std::int64_t count = SmiCounter(cell_.root()).read(measuring_.front());
  return count < 0 ? std::nullopt : std::optional(count);
}

void CellRun::measure() {
  loads_.mark();
  outcome_.clock_source_before = clock_source(cell_.root());
  outcome_.smi_before = read_smi();
  for (const int cpu : measuring_)
    outcome_.frequencies.push_back({cpu, cpu_frequency_khz(cell_.root(), cpu), 0});
  outcome_.heat_before = read_heat(cell_.root(), online_cpus(cell_.root()));
  rt_throttling_.emplace(cell_.root());
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
    static_cast<void>(bell_->wait(signals_, until_ns));
    if (take_signal(signals_) != 0 || recorder_->failed() || lanes_->one_has_ended_early()) lanes_->stop();
  }
}

void CellRun::conclude() {
  outcome_.clock_source_after = clock_source(cell_.root());
  outcome_.smi_after = read_smi();
  for (FrequencyReading& one : outcome_.frequencies) one.after_khz = cpu_frequency_khz(cell_.root(), one.cpu);
  outcome_.steal_ns = sampler_->steal_ns();
  look_for_throttling();
  if (outcome_.clock_source_before != outcome_.clock_source_after)
    cell_.warn("the clock source changed from " + outcome_.clock_source_before + " to " +
               outcome_.clock_source_after + " while measuring: the latencies are not valid");
  if (sampler_->lost() != 0)
    cell_.warn(std::to_string(sampler_->lost()) + " rows about the machine could not be kept");
  end_surroundings();
  balance();
  statistics_ = join_tallies(*recorder_, plan_.lanes.size());
}

void CellRun::look_for_throttling() {
  outcome_.heat_after = read_heat(cell_.root(), online_cpus(cell_.root()));
  outcome_.rt_throttled = rt_throttling_->happened();
  if (outcome_.rt_throttled.value_or(false))
    cell_.warn("the kernel throttled real-time tasks (sched_rt_runtime_us) while it was measured");
  for (const auto& [what, before, after] :
       {std::tuple{"cores", outcome_.heat_before.core, outcome_.heat_after.core},
        std::tuple{"packages", outcome_.heat_before.package, outcome_.heat_after.package}})
    if (before && after && *after > *before)
      cell_.warn("the CPUs' " + std::string(what) + " were slowed because of heat while it was measured, " +
                 std::to_string(*after - *before) + " times counted");
}

void CellRun::end_surroundings() {
  auto loads = loads_.stop();
  if (loads) {
    outcome_.loads = std::move(*loads);
  } else {
    cell_.warn(loads.error().message);
  }
  for (const LoadOutcome& load : outcome_.loads)
    for (const std::string& warning : load.warnings) cell_.warn("load " + load.spec + ": " + warning);
  restored_ = knobs_.restore();
  outcome_.knobs = knobs_.to_json();
  if (!restored_) cell_.warn(restored_.error().message);
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

Status CellRun::write_trailer() {
  std::vector<std::byte> frame;
  StreamEncoder::trailer(frame, trailer_json(outcome_, cell_.warnings()));
  const bool kept = sink_.put_last(frame);
  if (sink_.error() == 0 && kept) return {};
  const std::string why = sink_.error() != 0 ? errno_text(sink_.error()) : "its end could not be written";
  return broken(
      "the stream " + sink_.path() + " is cut: " + why + "; it is readable up to its last whole batch",
      "Free some space, or give --stream a file on another disk");
}

void CellRun::report() const {
  if (cell_.params().flag("json")) {
    std::fputs(summary_json(cell_, plan_, outcome_, statistics_).c_str(), stdout);
  } else if (!cell_.params().flag("quiet")) {
    std::fputs(summary_text(cell_, plan_, outcome_, statistics_).c_str(), stdout);
  } else {
    for (const std::string& warning : cell_.warnings())
      std::fprintf(stderr, "howlate-probe: warning: %s.\n", warning.c_str());
  }
  std::fflush(stdout);
}

}  // namespace howlate
