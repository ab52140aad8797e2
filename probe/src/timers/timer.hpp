// The interface of a way to sleep until a release. ONE FILE in this folder = ONE WAY TO
// SLEEP.
//
// A file `timers/clock_nanosleep.cpp` defines `extern const Timer timer_clock_nanosleep;` and is found by its
// name: the build lists the folder and generates the table, so a file without its Timer fails at link.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.hpp"
#include "core/ring.hpp"
#include "core/sample.hpp"
#include "core/schedule.hpp"
#include "sys/need.hpp"
#include "sys/sched.hpp"
#include "sys/thread.hpp"

namespace howlate {

enum class LatePolicy { skip, backlog, as_published };
enum class StopReason { activations, duration, stopped, threshold, failed };

// Called by the loop, outside the time stamps, at the first latency above the threshold; before the
// activation's work, so that the sample has no response then.
using OnThreshold = void (*)(void* context, const Sample& sample);

// Called at the beginning of each activation's work, after its time stamp.
using OnWork = void (*)(void* context, const Sample& sample);

// A way to sleep may also be asked for sleeps that follow no schedule: each is planned from the clock, just before it begins, and what
// counts is how long after the planned instant it is over. (Only where LoopContext::delays is set; the loop of the activations does
// not look at it.)
struct DelayRun {
  std::int64_t sleep_ns = 0;
  std::span<std::int64_t> planned_ns;  // CLOCK_MONOTONIC; room for all
  std::span<std::int64_t> delay_ns;
  std::span<std::int64_t> flags;  // SampleFlag
  std::int64_t t0_ns = 0;  // sleeps that are planned before it are the warm-up's: counted, and not kept
  std::int64_t end_ns = INT64_MAX;
  bool windows = false;                                       // half a second in each second
  void (*made)(void* context, std::int64_t count) = nullptr;  // after each
  void* context = nullptr;
};

// What was served before t0.
struct WarmUp {
  std::int64_t releases = 0;
  std::int64_t activations = 0;
  std::int64_t overruns = 0;
};

// What a real-time core beside Linux (Cobalt, EVL) says of a loop that slept by the core's calls.
struct CoreAccount {
  std::int64_t switches =
      -1;  // to Linux's stage while it was measured, by the core's own count; -1: no thread of a core
  std::int64_t overruns = -1;    // as the core counts them; -1: it does not
  std::int64_t gravity_ns = -1;  // by how much it programs this timer ahead (sys/gravity.hpp); -1: not known
};

// Everything that the measuring loop reads and writes. Owned by one measuring thread; the counters are read
// by others only through the published atomics or after the thread has ended.
struct LoopContext {
  // in
  Schedule schedule;             // t0, period, dither, windows
  Ring<Sample>* ring = nullptr;  // where samples go; never null
  LatePolicy late_policy = LatePolicy::skip;
  std::int64_t end_ns = INT64_MAX;              // CLOCK_MONOTONIC: releases at or after it are not due
  std::int64_t activations_wanted = INT64_MAX;  // the run ends at this many activations
  const std::atomic<bool>* stop =
      nullptr;  // never null; set, then the thread is kicked with kick_signal() until it ends
  std::int64_t work_iterations = 0;  // calibrated work of each activation; 0 = none
  OnWork on_work = nullptr;          // only where there is work
  void* on_work_context = nullptr;
  std::int64_t threshold_ns = INT64_MAX;
  bool stop_at_threshold = false;
  OnThreshold on_threshold = nullptr;
  void* on_threshold_context = nullptr;
  std::int64_t warm_up_ns = 0;  // before t0 releases are served for so long and not recorded
  const DelayRun* delays = nullptr;

  // out: what the thread had used when the loop began, after the timer was set up
  ThreadCounters before;
  // the schedule's own account, kept apart from what the recorder counts
  std::int64_t due_ns = INT64_MIN;  // releases up to it, itself included, were due (CLOCK_MONOTONIC)
  std::int64_t activations = 0;
  std::int64_t overruns = 0;
  WarmUp warm_up;  // in none of the others
  std::int64_t dropped = 0;
  std::int64_t late_starts = 0;
  std::int64_t early = 0;
  std::int64_t latency_ns_max = INT64_MIN;  // kept here, so that no drop hides the worst
  std::int64_t release_at_max = -1;
  // Timers that the kernel repeats: their expiries come between these two after the releases, by clock reads
  // just before and after arming (zero where the timer is armed for each activation).
  std::int64_t phase_before_ns = 0;
  std::int64_t phase_after_ns = 0;
  std::int64_t ended_ns = 0;  // the instant up to which releases were due, as an offset from t0
  CoreAccount core;
  StopReason stop_reason = StopReason::activations;

  // published while running, for the live line (relaxed; written by the loop once an activation)
  std::atomic<std::int64_t> own_activations{0};
  std::atomic<std::int64_t>* live_activations = &own_activations;  // in a guest a word that the host reads
  std::atomic<std::int64_t> live_latency_ns_max{INT64_MIN};
};

struct Timer {
  std::string_view name;            // "clock_nanosleep": the field's word, as in tables and labels
  std::string_view summary;         // one line: the calls it makes
  bool armed_each_activation;       // an absolute or relative time for each activation: dither is possible
  bool as_published;                // has the loop that the studies print
  bool windows = false;             // spins, so it works in windows (half a second in each second)
  bool one_thread = false;          // the timer belongs to the process: one measuring thread only
  std::int64_t period_step_ns = 1;  // the period must be a multiple of this
  Status (*available)();            // does this kernel have it? asked before anything is started
  Status (*run)(
      LoopContext& loop);  // sets up, runs the loop to its end, takes down; called on the measuring thread
  std::span<const Need> config = {};  // options of the kernel that it needs, without CONFIG_
  // Of a real-time core beside Linux: its name ("cobalt", "evl"), and where the activations run.
  std::string_view core = {};
  bool in_kernel = false;
  // Called on each measuring thread before t0 is chosen: makes it one of the core's.
  Status (*attach)() = nullptr;
  std::string_view module = {};  // of kmod/, where the activations run in the kernel
};

// The generated table of this folder, sorted by name, and a look-up whose error names the nearest.
std::span<const Timer* const> timers();
Result<const Timer*> find_timer(std::string_view name);
// The same; a timer of a core that this probe was built without is not possible here, and no misspelt name.
Result<const Timer*> find_built_timer(std::string_view name);

// A spinning task works for this long in each second (ScheduleSpec::window_on_ns; the rest is window_off_ns).
inline constexpr std::int64_t spin_window_ns = 500'000'000;

// The late policies that this way to sleep has: "skip", "backlog" and perhaps "as-published".
std::span<const std::string_view> late_policies(const Timer& timer);
std::string_view late_policy_name(LatePolicy policy);
Result<LatePolicy> parse_late_policy(std::string_view text);

// Whether the timer can do what is asked: a sentence and a remedy where it cannot. To be asked before
// anything is started; it does not ask whether the kernel has the timer (available()).
struct TimerUse {
  LatePolicy late_policy = LatePolicy::skip;
  bool dither = false;
  int threads = 1;
  std::int64_t period_ns = 0;
  std::span<const SchedPolicy> policies = {};  // of the threads
};
Status check_timer_use(const Timer& timer, const TimerUse& use);

// The signal that interrupts a sleeping measuring thread when it shall stop. Its handler does nothing (no
// SA_RESTART). Ways to sleep that wait for signals take it into their set; the others unblock it while they
// run. One kick can be lost (it comes just before the thread goes to sleep): repeat it every few milliseconds
// until the thread has ended.
int kick_signal();

}  // namespace howlate
