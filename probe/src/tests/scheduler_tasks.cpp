// tasks: what a wake-up and a switch cost while --tasks others are there, runnable on the same CPU or asleep.
//
// A leader wakes a partner and then waits; all tasks are on one CPU and of one class. wake_up_ns is from the leader's clock before
// futex(FUTEX_WAKE) to its clock after: the partner is put into the run queue, and does not run yet. switch_ns is from the leader's clock
// before futex(FUTEX_WAIT) to the first clock reading of whichever task the scheduler runs next: the leader is taken out of the queue, the
// next one chosen, switched to, and brought back to user space. Runnable tasks yield to each other for ever, so each has been
// chosen, and has gone cold, between two points.
#include "tests/scheduler_tasks.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "core/text.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/memory.hpp"

namespace howlate {

namespace {

constexpr std::int64_t tasks_max = 4096;
constexpr std::size_t stack_bytes = 24U << 10U;
constexpr std::int64_t kernels_bytes = 32 << 10;  // what the kernel has for a task
constexpr std::int64_t pace_ns = 200'000;  // deadline tasks: between two points, so that no budget is used up
constexpr std::int64_t crowd_runtime_ns = 10'000, crowd_period_ns = 1'000'000'000;

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the data point; one that failed is left out"},
    {"time_ns", ColumnType::i64, "its start, as an offset from t0"},
    {"wake_up_ns", ColumnType::i64, "the call that makes a sleeping task runnable"},
    {"switch_ns", ColumnType::i64, "from before the call that waits to the next task's first clock reading"},
    {"flags", ColumnType::u8, "bit 1: the leader was switched out against its will within it"},
};

// The partner: woken, it wakes the leader and waits again.
Status answer(PointsThread& thread, TaskMeeting& meeting) {
  while (!thread.stopped()) {
    meeting.partner_waits.store(true, std::memory_order_release);
    while (meeting.partner_go.load(std::memory_order_acquire) == 0 && !thread.stopped())
      futex_wait(meeting.partner_go, 0);
    meeting.first_reading();
    meeting.partner_waits.store(false, std::memory_order_release);
    meeting.partner_go.store(0, std::memory_order_release);
    meeting.leader_go.store(1, std::memory_order_release);
    futex_wake(meeting.leader_go, 1);
  }
  return {};
}

struct Leader {
  TaskMeeting& meeting;
  Crowd& crowd;
  bool runnable = false;
  bool paced = false;
  bool fair = false;

  TaskTimes round(const PointsThread& thread) const;
  void settle(const PointsThread& thread) const;
  void pause(const PointsThread& thread, SpinWindow& window) const;
  Status lead(PointsThread& thread);
};

TaskTimes Leader::round(const PointsThread& thread) const {
  TaskTimes times;
  meeting.leader_go.store(0, std::memory_order_relaxed);
  meeting.asked.store(false, std::memory_order_relaxed);
  meeting.first_ns.store(0, std::memory_order_relaxed);
  times.before_ns = monotonic_now_ns();
  meeting.partner_go.store(1, std::memory_order_release);
  times.was_asleep = futex_wake(meeting.partner_go, 1) == 1;
  times.woken_ns = monotonic_now_ns();
  times.ran_early = meeting.leader_go.load(std::memory_order_acquire) != 0;
  meeting.asked.store(true, std::memory_order_release);
  times.leaves_ns = monotonic_now_ns();
  while (meeting.leader_go.load(std::memory_order_acquire) == 0 && !thread.stopped())
    futex_wait(meeting.leader_go, 0);
  times.first_ns = meeting.first_ns.load(std::memory_order_acquire);
  return times;
}

// Until the partner waits again. A fair or a deadline scheduler lets the leader run before that, a FIFO one does not.
void Leader::settle(const PointsThread& thread) const {
  if (paced) sleep_until_ns(monotonic_now_ns() + pace_ns);
  while (!meeting.partner_waits.load(std::memory_order_acquire) && !thread.stopped()) {
    if (paced) {
      sleep_until_ns(monotonic_now_ns() + pace_ns);
    } else {
      ::sched_yield();
    }
  }
  if (fair) ::sched_yield();  // it has said so, and may have lost the CPU before it did so
}

void Leader::pause(const PointsThread& thread, SpinWindow& window) const {
  if (runnable) crowd.rest();
  window.pause_if_over(monotonic_now_ns());
  if (runnable) crowd.run();
  settle(thread);
  static_cast<void>(round(thread));  // caches are cold
}

Status Leader::lead(PointsThread& thread) {
  // Asleep, not yielding: on the only CPU nobody below could let the partner begin.
  while (!meeting.partner_waits.load(std::memory_order_acquire) && !thread.stopped())
    sleep_until_ns(monotonic_now_ns() + pace_ns);
  SpinWindow window(monotonic_now_ns());
  if (runnable) crowd.run();
  settle(thread);
  static_cast<void>(round(thread));
  while (thread.more(monotonic_now_ns())) {
    if (!paced && window.over(monotonic_now_ns())) pause(thread, window);
    settle(thread);
    const std::int64_t switches = read_thread_usage().involuntary_switches;
    const TaskTimes times = round(thread);
    if (thread.stopped()) break;
    if (!times.in_order()) {
      thread.missed();
      continue;
    }
    const bool others = read_thread_usage().involuntary_switches != switches;
    thread.add(times.before_ns - thread.t0_ns(), times.woken_ns - times.before_ns,
               times.first_ns - times.leaves_ns, others ? row_switched_out : 0);
  }
  crowd.rest();
  return {};
}

Status check(const Params& in, const SchedPolicy& policy, bool runnable) {
  const std::int64_t tasks = in.integer("tasks");
  if (tasks < 0 || tasks > tasks_max)
    return usage_error("--tasks " + in.text("tasks") + " is not possible",
                       "Choose from 0 to " + std::to_string(tasks_max));
  if (policy.kind != SchedKind::deadline) return {};
  if (runnable && tasks > 0)
    return usage_error(
        "the kernel admits no more deadline tasks than can be served, so none of them stays runnable",
        "Give --tasks-state sleeping");
  if (read_affinity().size() != 1)
    return not_possible(
        "a deadline task cannot be kept on one of several CPUs, and the question is about one",
        "Measure it where there is one CPU: in the lab's guests, or on a kernel started with maxcpus=1");
  return {};
}

Status check_memory(std::int64_t tasks, const Root& root) {
  const std::int64_t task_bytes =
      static_cast<std::int64_t>(std::max(stack_bytes, least_stack_bytes())) + kernels_bytes;
  return check_available(std::to_string(tasks) + " tasks need", static_cast<double>(tasks * task_bytes),
                         memory_available(root), "Ask for fewer with --tasks");
}

// The policy of the woken task: the leader's class, but never one that takes the CPU from the leader at its wake-up.
SchedPolicy partners(SchedPolicy policy) {
  if (policy.kind == SchedKind::other) policy.kind = SchedKind::batch;
  if (policy.kind == SchedKind::deadline) policy.deadline_ns = policy.period_ns;
  return policy;
}

SchedPolicy crowds(const SchedPolicy& policy) {
  if (policy.kind != SchedKind::deadline) return policy;
  return {.kind = SchedKind::deadline,
          .runtime_ns = crowd_runtime_ns,
          .deadline_ns = crowd_period_ns,
          .period_ns = crowd_period_ns};
}

}  // namespace

const std::span<const ColumnSpec> task_columns = columns;

void TaskMeeting::first_reading() {
  const std::int64_t now_ns = monotonic_now_ns();
  if (!asked.load(std::memory_order_acquire)) return;
  asked.store(false, std::memory_order_relaxed);
  first_ns.store(now_ns, std::memory_order_release);
}

void Crowd::body() {
  for (;;) {
    const std::uint32_t now = state_.load(std::memory_order_acquire);
    if (now == over) return;
    if (now == resting) {
      futex_wait(state_, resting);
    } else {
      ::sched_yield();
    }
    meeting_.first_reading();
    if (now == running) turns_.fetch_add(1, std::memory_order_relaxed);
  }
}

Status Crowd::start(std::int64_t many, const ThreadSpec& spec, const Root& root) {
  tasks_.reserve(static_cast<std::size_t>(many));
  for (std::int64_t i = 0; i < many; ++i) {
    auto task = RtThread::start(
        spec, [this] { body(); }, root);
    if (!task) {
      end();
      Error why = task.error();
      why.message =
          std::to_string(many) + " tasks were asked for, and after " + std::to_string(i) + ": " + why.message;
      return why;
    }
    tasks_.push_back(std::move(*task));
  }
  return {};
}

void Crowd::run() {
  state_.store(running, std::memory_order_release);
  futex_wake(state_, INT_MAX);
}

void Crowd::rest() {
  state_.store(resting, std::memory_order_release);
}

void Crowd::end() {
  state_.store(over, std::memory_order_release);
  futex_wake(state_, INT_MAX);
  tasks_.clear();
}

Result<ExitCode> ask_about_tasks(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy) {
  Params& in = cell.params();
  const bool runnable = in.text("tasks-state") == "runnable";
  if (const Status right = check(in, policy, runnable); !right) return right.error();
  const std::int64_t tasks = in.integer("tasks");
  if (const Status fits = check_memory(tasks, cell.root()); !fits) return fits.error();
  plan.labels.emplace_back("tasks", in.text("tasks"));
  plan.labels.emplace_back("tasks-state", in.text("tasks-state"));
  TaskMeeting meeting;
  Crowd crowd(meeting);
  Leader leader{meeting, crowd, runnable, policy.kind == SchedKind::deadline,
                policy.kind == SchedKind::other};
  plan.columns = task_columns;
  plan.set_up = [&] {
    const ThreadSpec spec{{cpu}, crowds(policy), 0, "scheduler/crowd", {}, stack_bytes};
    return crowd.start(tasks, spec, cell.root());
  };
  plan.take_down = [&] { crowd.end(); };
  plan.threads = {
      {"scheduler/lead", {cpu}, policy, true, [&](PointsThread& thread) { return leader.lead(thread); }},
      {"scheduler/answ", {cpu}, partners(policy), false, [&](PointsThread& thread) {
         return answer(thread, meeting);
       }}};
  plan.conclude = [&](std::vector<PointsTable>& tables) {
    PointsOutcomes outcomes;
    outcomes.passes = tables.front().rows;
    outcomes.failures = tables.front().missed;
    outcomes.figures = {{"tasks", tasks}, {"crowd_turns", crowd.turns()}};
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

}  // namespace howlate
