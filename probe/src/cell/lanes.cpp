#include "cell/lanes.hpp"

#include <unistd.h>

#include <algorithm>

#include "timers/work.hpp"

namespace howlate {

Lanes::~Lanes() {
  gate_.send_home();
  stop();
  while (!ended()) {
    kick();
    ::usleep(1000);
  }
  join();
}

Status Lanes::make(std::vector<std::unique_ptr<Lane>>& lanes, std::size_t samples) {
  for (auto& lane : lanes) {
    auto pages = TouchedPages::make(samples * sizeof(Sample));
    if (!pages) return pages.error();
    runs_.push_back(std::make_unique<LaneRun>(*lane, std::move(*pages)));
    runs_.back()->ended.store(true, std::memory_order_relaxed);  // until its thread is there
  }
  return {};
}

Status Lanes::start(const std::vector<int>& allowed, const std::function<Status()>& enter_cpuset) {
  for (auto& run : runs_) {
    Lane& lane = run->lane;
    const std::string name = "measure/" + (lane.cpu < 0 ? "any" : std::to_string(lane.cpu));
    ThreadSpec spec{{lane.cpu}, lane.policy, lane.timer_slack_ns, name, {}};
    if (lane.cpu < 0) spec.cpus = lane.cpuset.empty() ? allowed : lane.cpuset;
    if (!lane.cpuset.empty()) spec.enter = enter_cpuset;
    run->ended.store(false, std::memory_order_relaxed);
    auto thread = RtThread::start(
        spec, [this, &one = *run] { body(one); }, root_);
    if (!thread) {
      run->ended.store(true, std::memory_order_relaxed);
      return thread.error();
    }
    run->thread = std::move(*thread);
  }
  gate_.await(runs_.size());
  return {};
}

void Lanes::body(LaneRun& run) {
  LoopContext& loop = run.lane.loop;
  if (run.lane.work_ns != 0) loop.work_iterations = work_iterations(run.lane.work_ns, measure_work_speed());
  loop.before = read_thread_counters(root_);
  if (gate_.pass()) {
    touch_from_here(std::as_writable_bytes(std::span(&run, 1)));
    run.status = run.lane.run(loop);
    run.counters = read_thread_counters(root_) - loop.before;
    if (!run.status) loop.stop_reason = StopReason::failed;
    if (measuring_.fetch_sub(1, std::memory_order_acq_rel) == 1 && over_) over_();
  }
  run.ended.store(true, std::memory_order_release);
  bell_.ring();
}

void Lanes::open(const CellPlan& plan, std::int64_t t0_ns) {
  for (auto& run : runs_) {
    LoopContext& loop = run->lane.loop;
    ScheduleSpec schedule = plan.schedule;
    schedule.t0_ns = t0_ns + run->lane.stagger_ns;
    loop.schedule = Schedule(schedule);
    loop.ring = &run->ring;
    loop.stop = &stop_;
    if (plan.duration_ns != 0) loop.end_ns = t0_ns + plan.duration_ns;
  }
  measuring_.store(runs_.size(), std::memory_order_relaxed);
  gate_.open();
}

void Lanes::kick() const {
  for (const auto& run : runs_)
    if (!run->ended.load(std::memory_order_acquire)) run->thread.kick(kick_signal());
}

bool Lanes::ended() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const auto& run) { return run->ended.load(std::memory_order_acquire); });
}

bool Lanes::one_has_ended_early() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& run) {
    if (!run->ended.load(std::memory_order_acquire)) return false;
    const StopReason reason = run->lane.loop.stop_reason;
    return reason == StopReason::threshold || reason == StopReason::failed;
  });
}

void Lanes::join() {
  for (auto& run : runs_) run->thread.join();
}

std::int64_t Lanes::activations() const {
  std::int64_t sum = 0;
  for (const auto& run : runs_) sum += run->lane.loop.live_activations.load(std::memory_order_relaxed);
  return sum;
}

std::int64_t Lanes::latency_ns_max() const {
  std::int64_t max = INT64_MIN;
  for (const auto& run : runs_)
    max = std::max(max, run->lane.loop.live_latency_ns_max.load(std::memory_order_relaxed));
  return max == INT64_MIN ? 0 : max;
}

}  // namespace howlate
