// slice: how long a task runs before its equal takes over.
//
// --tasks others and the measuring task compute for ever, all on one CPU, of one class and priority. run_ns is from the measuring task's
// first clock reading after an equal had the CPU to its last one before an equal has it again, without stolen_ns: time in which neither
// it nor an equal ran (real-time throttling, a hypervisor; more than 20 us in one piece). away_ns is from the end of the run to the
// task's next reading. Its own cost: a clock reading and a load some 30 million times a second. It disturbs its CPU: with SCHED_RR all
// other tasks are kept from it for at least half a second, then left as long in peace. A run that began after such a rest is no
// point: its quantum may have been begun before.
#include "tests/scheduler_slice.hpp"

#include <sched.h>

#include <atomic>

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "timers/work.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "begin of the run, as an offset from t0"},
    {"run_ns", ColumnType::i64, "how long the task had the CPU before an equal took over"},
    {"away_ns", ColumnType::i64, "from there until it had the CPU again", true},
    {"stolen_ns", ColumnType::i64, "time within the run in which neither it nor an equal had the CPU"},
    {"flags", ColumnType::u8, "bit 1: switched out (all of them)"},
};

struct Equals {
  std::atomic<std::int64_t> turns{0};      // counted up by all but the measuring task
  std::atomic<std::int64_t> resume_ns{0};  // nobody computes before this instant
  std::atomic<std::int64_t> interval_ns{-1};
};

Status compute(const PointsThread& thread, Equals& equals) {
  while (!thread.stopped()) {
    if (const std::int64_t resume_ns = equals.resume_ns.load(std::memory_order_acquire);
        monotonic_now_ns() < resume_ns) {
      sleep_until_ns(resume_ns);
      continue;
    }
    equals.turns.fetch_add(1, std::memory_order_acq_rel);
    do_work(100);
  }
  return {};
}

// What the kernel says of the caller's slice, while its equals are runnable.
std::int64_t read_interval_ns() {
  struct timespec interval {};
  if (::sched_rr_get_interval(0, &interval) != 0) return -1;
  return ns_of(interval);
}

// Computes until an equal has had the CPU and it is the task's turn again; false where the run of the test is over.
bool compute_until_taken(const PointsThread& thread, const Equals& equals, Runs& runs) {
  while (!thread.stopped()) {
    std::int64_t now_ns = monotonic_now_ns();
    const std::int64_t turns = equals.turns.load(std::memory_order_acquire);
    if (turns != runs.turns()) now_ns = monotonic_now_ns();
    if (runs.take(now_ns, turns)) return true;
  }
  return false;
}

Status ask(PointsThread& thread, Equals& equals) {
  while (thread.more(monotonic_now_ns())) {
    const std::int64_t begin_ns = monotonic_now_ns();
    Runs runs(begin_ns, equals.turns.load(std::memory_order_acquire));
    if (!compute_until_taken(thread, equals, runs)) break;
    equals.interval_ns.store(read_interval_ns(), std::memory_order_relaxed);
    std::int64_t now_ns = 0;
    do {
      if (!compute_until_taken(thread, equals, runs)) return {};
      thread.add(runs.begin_ns() - thread.t0_ns(), runs.ran_ns(), runs.away_ns(), runs.stolen_ns(),
                 row_switched_out);
      now_ns = monotonic_now_ns();
    } while (now_ns - begin_ns < SpinWindow::on_ns && thread.more(now_ns));
    if (!thread.more(now_ns)) break;
    equals.resume_ns.store(now_ns + SpinWindow::off_ns, std::memory_order_release);
    sleep_until_ns(now_ns + SpinWindow::off_ns);
  }
  return {};
}

}  // namespace

Status check_computing_tasks(const Params& in) {
  const std::int64_t tasks = in.integer("tasks");
  if (tasks >= 1 && tasks <= computing_tasks_max) return {};
  return usage_error(
      "--tasks " + in.text("tasks") + " is not possible with --question " + in.text("question"),
      "Choose from 1 to " + std::to_string(computing_tasks_max));
}

Result<ExitCode> ask_about_slices(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy) {
  Params& in = cell.params();
  if (policy.kind == SchedKind::fifo)
    return usage_error("a FIFO task has no time slice: its equal never takes over",
                       "Give --policy rr:P or --policy other");
  if (const Status right = check_computing_tasks(in); !right) return right.error();
  if (const Status left = policy.real_time() ? leave_a_cpu(in, {cpu}) : Status{}; !left) return left.error();
  plan.labels.emplace_back("tasks", in.text("tasks"));
  plan.columns = columns;
  plan.switched_by_design = true;
  Equals equals;
  plan.threads.push_back(
      {"scheduler/runs", {cpu}, policy, true, [&](PointsThread& thread) { return ask(thread, equals); }});
  for (std::int64_t i = 0; i < in.integer("tasks"); ++i)
    plan.threads.push_back({"scheduler/equal", {cpu}, policy, false, [&](PointsThread& thread) {
                              return compute(thread, equals);
                            }});
  plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    if (const std::int64_t told_ns = equals.interval_ns.load(); told_ns >= 0)
      outcomes.figures.emplace_back("interval_ns", told_ns);
    if (const auto ms = read_integer(cell.root().at("/proc/sys/kernel/sched_rr_timeslice_ms"));
        ms && policy.kind == SchedKind::rr)
      outcomes.figures.emplace_back("rr_timeslice_ms", *ms);
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

}  // namespace howlate
