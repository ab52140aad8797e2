// The measuring loop: wait, clock, subtract, record. One straight loop for each way to sleep and late policy,
// with no virtual call, allocation, lock or log in it. What it counts: docs/timers.md.
//
// A Sleep (timers/sleep.hpp) has
//   std::int64_t wait(release_ns)   sleeps once, not at all if the release has passed, and gives the first
//   time stamp
//                                   after it (CLOCK_MONOTONIC); may come back early
//   bool early(release_ns, now_ns)  whether that wake-up was not the one waited for
//   std::int64_t now(); void work(iterations); std::uint32_t flags(); int error; std::int64_t end_of_loop();
#pragma once

#include <cstdint>

#include "sys/clock.hpp"
#include "timers/timer.hpp"

namespace howlate {

// A new maximum: kept, published, held against the threshold. True when the run shall end
// for it.
[[gnu::cold]] bool note_maximum(LoopContext& loop, const Sample& sample);

// Opens the account: what the thread used before, setting its timer up among it, is not the loop's. Neither this
// nor close_account() may be cold: every path through the loop calls them, and the compiler would take the loop
// itself for cold and make it small instead of fast (half as many instructions again in each activation).
void begin_account(LoopContext& loop);

// Closes the account at `now_ns`: releases due by then and not served are overruns. How many releases there
// were is counted by others, from `due_ns` and a schedule of their own, so that `releases = activations +
// overruns` can be wrong; not here, where a long uneven schedule would be walked at a measuring priority.
void close_account(LoopContext& loop, Schedule& schedule, std::int64_t now_ns, StopReason reason);

inline bool stopped(const LoopContext& loop) {
  return loop.stop->load(std::memory_order_relaxed);
}

// After an early wake-up: waits again as often as it takes. The time stamp is early still when the run was
// stopped, or the sleep failed.
template <class Sleep>
[[gnu::cold, gnu::noinline]] std::int64_t wait_again(LoopContext& loop, Sleep& sleep, std::int64_t release) {
  std::int64_t now = sleep.now();
  do {
    if (stopped(loop) || sleep.error != 0) break;
    ++loop.early;
    now = sleep.wait(release);
  } while (sleep.early(release, now));
  return now;
}

// Calls on_threshold if the sample is above the threshold and none was before.
[[gnu::cold]] void mark_threshold(LoopContext& loop, const Sample& sample);

// The activation's work, in pieces of about a millisecond, so that a stop does not wait for hours of it. False
// when it was stopped before its end: that activation has no response, and its release counts as not served.
// A latency above the threshold is marked before: the kernel's trace must not run on through the work.
template <class Sleep>
[[gnu::cold, gnu::noinline]] bool work_off(LoopContext& loop, Sleep& sleep, const Sample& sample) {
  mark_threshold(loop, sample);
  if (loop.on_work != nullptr) loop.on_work(loop.on_work_context, sample);
  constexpr std::int64_t piece = std::int64_t{1} << 20U;
  for (std::int64_t left = loop.work_iterations; left > 0; left -= piece) {
    sleep.work(left < piece ? left : piece);
    if (left > piece && stopped(loop)) return false;
  }
  return true;
}

template <LatePolicy policy, class Sleep>
[[gnu::noinline]] void measure(LoopContext& loop, Sleep& sleep) {
  begin_account(loop);
  Schedule schedule = loop.schedule;
  Ring<Sample>& ring = *loop.ring;
  StopReason reason = StopReason::activations;
  std::int64_t now = sleep.now();
  std::int64_t activations = 0;
  std::int64_t overruns = 0;
  std::int64_t release = schedule.release_ns();
  while (activations < loop.activations_wanted) {
    reason = StopReason::stopped;
    if (stopped(loop)) break;
    reason = StopReason::duration;
    if (release >= loop.end_ns || (policy != LatePolicy::skip && now >= loop.end_ns)) break;
    reason = StopReason::stopped;
    if (policy == LatePolicy::backlog && release <= now) {  // passed while an earlier one was served
      ++loop.late_starts;
      now = sleep.now();
    } else {
      now = sleep.wait(release);
      if (sleep.early(release, now)) [[unlikely]]
        now = wait_again(loop, sleep, release);
      if (sleep.early(release, now)) [[unlikely]]
        break;
    }
    const std::int64_t latency = now - release;
    const auto dropped = static_cast<std::uint32_t>(loop.dropped);
    const std::uint32_t flags = sleep.flags();
    const auto sample = [&](std::int64_t response) {
      return Sample{
          schedule.index(), release - schedule.spec().t0_ns, latency, response, overruns, dropped, flags};
    };
    std::int64_t response = 0;
    if (loop.work_iterations != 0) [[unlikely]] {
      if (!work_off(loop, sleep, sample(0))) break;
      now = sleep.now();
      response = now - release;
    }
    if (ring.has_room()) [[likely]]
      ring.put(sample(response));
    else
      ++loop.dropped;
    loop.live_activations->store(++activations, std::memory_order_relaxed);
    if (latency > loop.latency_ns_max) [[unlikely]] {
      reason = StopReason::threshold;
      if (note_maximum(loop, sample(response))) break;
      now = sleep.now();
    }
    reason = StopReason::activations;
    release = schedule.advance();
    if constexpr (policy == LatePolicy::skip)
      for (; release <= now && release < loop.end_ns; now = sleep.now()) {  // passing many takes time itself
        overruns += schedule.pass(now < loop.end_ns ? now : loop.end_ns - 1);
        release = schedule.release_ns();
      }
  }
  if (reason == StopReason::threshold) schedule.advance();  // its release was served
  loop.activations = activations;
  loop.overruns = overruns;
  close_account(loop, schedule, sleep.end_of_loop(), sleep.error != 0 ? StopReason::failed : reason);
}

// The releases before t0, which are served as all others are and counted apart: by `skip`, so that a stall among them is over at t0.
template <class Sleep>
void warm_up(LoopContext& loop, Sleep& sleep) {
  const ScheduleSpec& measured = loop.schedule.spec();
  const ScheduleSpec warm = warm_up_schedule(measured, loop.warm_up_ns);
  if (warm.t0_ns == measured.t0_ns) return;
  Ring<Sample> nowhere{std::span<Sample>()};
  LoopContext before;
  before.schedule = Schedule(warm);
  before.ring = &nowhere;
  before.end_ns = measured.t0_ns;
  before.stop = loop.stop;
  before.work_iterations = loop.work_iterations;
  measure<LatePolicy::skip>(before, sleep);
  loop.warm_up = {Schedule(warm).due_by(before.due_ns), before.activations, before.overruns};
}

// Sleeps without a schedule: plan, wait, clock, subtract.
template <class Sleep>
[[gnu::noinline]] void measure_delays(LoopContext& loop, Sleep& sleep) {
  begin_account(loop);
  const DelayRun& run = *loop.delays;
  const auto wanted = static_cast<std::int64_t>(run.delay_ns.size());
  std::int64_t window_ns = sleep.now() + spin_window_ns;
  std::int64_t count = 0;
  bool warm = run.t0_ns != 0;
  loop.stop_reason = StopReason::activations;
  while (count < wanted) {
    if (warm && sleep.now() >= run.t0_ns) {
      warm = false;
      begin_account(loop);
    }
    const std::int64_t planned = sleep.now() + run.sleep_ns;
    loop.stop_reason = StopReason::stopped;
    if (stopped(loop)) break;
    loop.stop_reason = StopReason::duration;
    if (planned >= run.end_ns) break;
    std::int64_t now = sleep.wait(planned);
    if (sleep.early(planned, now)) [[unlikely]]
      now = wait_again(loop, sleep, planned);
    loop.stop_reason = sleep.error != 0 ? StopReason::failed : StopReason::stopped;
    if (sleep.error != 0 || sleep.early(planned, now)) [[unlikely]]
      break;
    if (warm) {
      ++loop.warm_up.releases;
      ++loop.warm_up.activations;
      continue;
    }
    run.planned_ns[static_cast<std::size_t>(count)] = planned;
    run.delay_ns[static_cast<std::size_t>(count)] = now - planned;
    run.flags[static_cast<std::size_t>(count)] = sleep.flags();
    run.made(run.context, ++count);
    loop.stop_reason = StopReason::activations;
    if (run.windows && now >= window_ns) {
      sleep_until_ns(now + spin_window_ns);
      window_ns = sleep.now() + spin_window_ns;
    }
  }
}

template <class Sleep>
void measure(LoopContext& loop, Sleep& sleep) {
  if (loop.delays != nullptr) return measure_delays(loop, sleep);
  warm_up(loop, sleep);
  if (loop.late_policy == LatePolicy::backlog) return measure<LatePolicy::backlog>(loop, sleep);
  measure<LatePolicy::skip>(loop, sleep);
}

}  // namespace howlate
