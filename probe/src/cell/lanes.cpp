#include "cell/lanes.hpp"

#include <algorithm>

#include "sys/host_word.hpp"
#include "timers/work.hpp"

namespace howlate {

Status Lanes::make(std::vector<std::unique_ptr<MeasuringThread>>& lanes, std::size_t samples) {
  for (auto& lane : lanes) {
    auto pages = TouchedPages::make(samples * sizeof(Sample));
    if (!pages) return pages.error();
    runs_.push_back(std::make_unique<LaneRun>(*lane, std::move(*pages)));
    if (auto* const word = take_host_word(); word != nullptr) lane->loop.live_activations = word;
  }
  return {};
}

Status Lanes::start(const std::vector<int>& allowed, const std::function<Status()>& enter_cpuset) {
  for (auto& run : runs_) {
    MeasuringThread& lane = run->lane;
    const std::string name = "measure/" + (lane.cpu < 0 ? "any" : std::to_string(lane.cpu));
    ThreadSpec spec{{lane.cpu}, lane.policy, lane.timer_slack_ns, name, {}};
    if (lane.cpu < 0) spec.cpus = lane.cpuset.empty() ? allowed : lane.cpuset;
    if (!lane.cpuset.empty()) spec.enter = enter_cpuset;
    if (Status made = group_.start(*run, spec, [this, &one = *run] { body(one); }); !made) return made;
  }
  group_.await();
  return {};
}

void Lanes::body(LaneRun& run) {
  LoopContext& loop = run.lane.loop;
  if (run.lane.work_ns != 0) loop.work_iterations = work_iterations(run.lane.work_ns, measure_work_speed());
  if (run.lane.attach != nullptr) run.status = run.lane.attach();
  loop.before = read_thread_counters(root_);
  if (!group_.pass()) return;
  touch_from_here(std::as_writable_bytes(std::span(&run, 1)));
  if (run.status) run.status = run.lane.run(loop);
  run.counters = read_thread_counters(root_) - loop.before;
  if (!run.status) loop.stop_reason = StopReason::failed;
  if (measuring_.fetch_sub(1, std::memory_order_acq_rel) == 1 && over_) over_();
}

void Lanes::open(const CellPlan& plan, std::int64_t t0_ns) {
  for (auto& run : runs_) {
    LoopContext& loop = run->lane.loop;
    ScheduleSpec schedule = plan.schedule;
    schedule.t0_ns = t0_ns + run->lane.stagger_ns;
    loop.schedule = Schedule(schedule);
    loop.warm_up_ns = plan.warm_up_ns;
    loop.ring = &run->ring;
    loop.stop = group_.stop_flag();
    if (plan.duration_ns != 0) loop.end_ns = t0_ns + plan.duration_ns;
  }
  measuring_.store(runs_.size(), std::memory_order_relaxed);
  group_.open();
}

bool Lanes::one_has_ended_early() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& run) {
    if (!run->ended.load(std::memory_order_acquire)) return false;
    const StopReason reason = run->lane.loop.stop_reason;
    return reason == StopReason::threshold || reason == StopReason::failed;
  });
}

SoFar Lanes::so_far() const {
  SoFar so_far{.latency_ns_max = 0};
  for (const auto& run : runs_) {
    const LoopContext& loop = run->lane.loop;
    const std::int64_t activations = loop.live_activations->load(std::memory_order_relaxed);
    const std::int64_t largest_ns =
        activations == 0
            ? 0
            : std::max<std::int64_t>(loop.live_latency_ns_max.load(std::memory_order_relaxed), 0);
    so_far.made += activations;
    so_far.latency_ns_max = std::max(so_far.latency_ns_max, largest_ns);
    so_far.threads.push_back({run->lane.cpu, activations, largest_ns, run->bins.get()});
  }
  return so_far;
}

}  // namespace howlate
