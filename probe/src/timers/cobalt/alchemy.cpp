// Alchemy's periodic task: rt_task_set_periodic(), which the core repeats, rt_task_wait_period(), and rt_timer_read() as the clock. These
// are today's names of the calls that toshiba-2010 made in a kernel task (docs/cores.md).
//
// What has passed is found from the clock, as with setitimer: an expiry that a stall left behind is taken and not served.
#include <alchemy/task.h>
#include <alchemy/timer.h>

#include <algorithm>

#include "timers/cobalt/cobalt_core.hpp"
#include "timers/core_sleep.hpp"

namespace howlate {

namespace {

// A thread of Cobalt's that is a task of Alchemy's as well.
struct Alchemy : Cobalt {
  static Status take(const CorePolicy& policy) {
    if (Status cobalt = Cobalt::take(policy); !cobalt) return cobalt;
    if (const int failed = rt_task_shadow(nullptr, nullptr, policy.priority, 0); failed != 0)
      return broken("Alchemy does not take the measuring thread: " + errno_text(-failed));
    if (policy.policy == SCHED_RR)  // the task above runs as fifo
      if (const int failed = rt_task_slice(nullptr, slice_of(policy)); failed != 0)
        return broken("Alchemy gives the measuring thread no time slice: " + errno_text(-failed));
    return check_policy(policy);
  }

 private:
  static RTIME slice_of(const CorePolicy& policy) {
    return static_cast<RTIME>(
        rt_timer_ns2ticks(policy.quantum.tv_sec * SRTIME{1'000'000'000} + policy.quantum.tv_nsec));
  }
};

class PeriodicTask : public CoreSleep<Alchemy> {
 public:
  static constexpr std::string_view calls = "Alchemy's rt_task_set_periodic() or rt_task_wait_period()";

  explicit PeriodicTask(LoopContext& loop)
      : CoreSleep(loop), loop_(loop), period_ns_(loop.schedule.spec().period_ns) {
    loop_.core.overruns = 0;
  }
  ~PeriodicTask() { rt_task_set_periodic(nullptr, TM_NOW, TM_INFINITE); }
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  static std::int64_t now() { return static_cast<std::int64_t>(rt_timer_read()); }

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    if (!armed_) [[unlikely]]
      arm();
    if (error != 0) [[unlikely]] {  // there is nothing to wait for
      woken(0, release_ns);
      return now();
    }
    if (const std::int64_t before_ns = now(); before_ns >= release_ns) {
      woken(0, release_ns);
      return before_ns;
    }
    unsigned long overruns = 0;
    const int failed = -rt_task_wait_period(&overruns);
    const std::int64_t after_ns = now();
    const bool expired = failed == 0 || failed == ETIMEDOUT;
    loop_.core.overruns += static_cast<std::int64_t>(overruns);
    if (expired) expiries_ += 1 + static_cast<std::int64_t>(overruns);
    // Which release the latest expiry stands for; one that a stall left behind comes before its time.
    stale_ = expired && after_ns < release_ns && first_ns_ + (expiries_ - 1) * period_ns_ < release_ns;
    woken(expired ? 0 : failed, stale_ ? INT64_MIN : release_ns);
    return after_ns;
  }

  [[nodiscard]] bool early(std::int64_t release_ns, std::int64_t now_ns) const {
    return stale_ || CoreSleep::early(release_ns, now_ns);
  }

 private:
  // The first expiry is the first release to come.
  void arm() {
    const ScheduleSpec& spec = loop_.schedule.spec();
    const ScheduleSpec warm = warm_up_schedule(spec, loop_.warm_up_ns);
    first_ns_ = warm.t0_ns + Schedule(warm).due_by(now()) * spec.period_ns;
    const int failed =
        rt_task_set_periodic(nullptr, static_cast<RTIME>(first_ns_), static_cast<RTIME>(spec.period_ns));
    if (failed != 0) error = -failed;
    armed_ = true;
  }

  LoopContext& loop_;
  std::int64_t period_ns_;
  std::int64_t first_ns_ = 0;  // of the first expiry
  std::int64_t expiries_ = 0;
  bool armed_ = false;
  bool stale_ = false;
};

}  // namespace

extern constinit const Timer timer_alchemy = core_timer<PeriodicTask>(
    "alchemy", "Alchemy's rt_task_set_periodic(), repeated by Cobalt, and rt_task_wait_period()", false);

}  // namespace howlate
