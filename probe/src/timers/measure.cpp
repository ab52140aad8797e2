#include "timers/measure.hpp"

#include <algorithm>
#include <utility>

namespace howlate {

void mark_threshold(LoopContext& loop, const Sample& sample) {
  if (loop.on_threshold == nullptr || sample.latency_ns <= loop.threshold_ns) return;
  std::exchange(loop.on_threshold, nullptr)(loop.on_threshold_context, sample);
}

bool note_maximum(LoopContext& loop, const Sample& sample) {
  const bool first_above = sample.latency_ns > loop.threshold_ns && loop.latency_ns_max <= loop.threshold_ns;
  loop.latency_ns_max = sample.latency_ns;
  loop.release_at_max = sample.release;
  loop.live_latency_ns_max.store(sample.latency_ns, std::memory_order_relaxed);
  if (!first_above) return false;
  mark_threshold(loop, sample);
  return loop.stop_at_threshold;
}

void begin_account(LoopContext& loop) {
  const std::int64_t migrations = loop.before.migrations, place = loop.before.place;
  loop.before = read_thread_usage();
  loop.before.migrations = migrations;
  loop.before.place = place;
}

void close_account(LoopContext& loop, Schedule& schedule, std::int64_t now_ns, StopReason reason) {
  const std::int64_t ended_ns = reason == StopReason::duration ? loop.end_ns : std::min(now_ns, loop.end_ns);
  const std::int64_t due_ns =
      ended_ns == loop.end_ns ? ended_ns - 1 : ended_ns;  // a release at the end is not due
  loop.overruns += schedule.pass(due_ns);
  loop.due_ns = due_ns;
  loop.ended_ns = ended_ns - schedule.spec().t0_ns;
  loop.stop_reason = reason;
  loop.schedule = schedule;
}

}  // namespace howlate
