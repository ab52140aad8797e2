#include "inject/work.hpp"

#include "sys/clock.hpp"
#include "sys/thread.hpp"

namespace howlate {

Status WorkRun::set_up(const InjectPlan& plan) {
  plan_ = &plan;
  next_.assign(plan.lanes.size(), 0);
  if (Status made = slots_.make(plan); !made) return made;
  return prepare();
}

Status WorkRun::begin(std::int64_t /*t0_ns*/) {
  return {};
}

void WorkRun::work(std::size_t lane, std::int64_t lane_t0_ns, const Sample& sample) {
  const std::vector<PlannedDelay>& delays = plan_->lanes[lane].delays;
  std::size_t& next = next_[lane];
  next_work();
  for (; next < delays.size() && delays[next].release <= sample.release; ++next)
    skip_delay(slots_.at(lane, next), monotonic_now_ns());
  if (next == delays.size() || delays[next].release != sample.release + 1) return;
  DelaySlot& slot = slots_.at(lane, next);
  const std::int64_t begin_ns = lane_t0_ns + delays[next].begin_ns;
  const std::int64_t release_ns = lane_t0_ns + delays[next].release_ns;
  const std::int64_t size_ns = delays[next].size_ns;
  ++next;
  get_ready(lane);
  sleep_until_ns(begin_ns);
  const std::int64_t now_ns = monotonic_now_ns();
  if (now_ns >= release_ns) return skip_delay(slot, now_ns);  // it is to go on when the release comes
  slot.pid.store(thread_number(), std::memory_order_relaxed);
  hold(lane, slot, now_ns + size_ns);
}

}  // namespace howlate
