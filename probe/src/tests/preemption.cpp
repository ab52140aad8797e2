// preemption: a task of higher priority takes the CPU from one of lower priority and gives it back.
//
// P2 (low) spins on a CPU and reads the clock. P1 (high, on the same CPU) sleeps, wakes (t2), spins for a set time and goes to sleep
// again (t3). P2's last reading before is t1, its first after is t4. cs1_ns = t2 - t1: from the low task's last instruction to the
// high one's first: timer interrupt, wake-up, switch, return to user space. wait_ns = t3 - t2 less the time it was set to spin: what
// else took the CPU meanwhile. cs2_ns = t4 - t3: from the high task's last instruction to the low one's next: the way into sleep,
// the switch, the return. A point passes if t1 < t2 < t3 < t4; one that fails leaves no row. Its own cost: up to one turn of P2's loop (one clock reading) in cs1_ns
// and in cs2_ns each, and P1's two readings. It keeps its CPU busy for half of each second. Source: tut-2017; docs/tests/preemption.md.
#include <errno.h>
#include <semaphore.h>
#include <sys/resource.h>

#include <atomic>
#include <vector>

#include "core/text.hpp"
#include "points/points.hpp"
#include "sys/clock.hpp"
#include "tests/preemption_points.hpp"
#include "tests/test.hpp"
#include "timers/nanosleep.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"sleep", ParamType::duration, "200us", "ns", "", "how long P1 sleeps while P2 spins"},
    {"spin", ParamType::duration, "100us", "ns", "", "how long P1 spins once it is awake, from 1us"},
    {"timeout", ParamType::duration, "100ms", "ns", "",
     "a point has failed if P2 is not preempted within it"},
    {"high", ParamType::count, "80", "1", "", "priority of P1, SCHED_FIFO"},
    {"low", ParamType::count, "70", "1", "", "priority of P2, SCHED_FIFO"},
    points_param("10000"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_occupy_all,
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the preemption; failed ones are left out"},
    {"time_ns", ColumnType::i64, "P1 awake (t2), as an offset from t0"},
    {"cs1_ns", ColumnType::i64, "from P2's last reading before to P1 awake: t2 - t1", true},
    {"wait_ns", ColumnType::i64,
     "from P1 awake to its end, minus the time for which it spins: t3 - t2 - spin", true},
    {"cs2_ns", ColumnType::i64, "from P1's end to P2's first reading after it: t4 - t3", true},
    {"flags", ColumnType::u8, "bit 1: a third task took the CPU from P1 or, while P1 slept, from P2"},
};

// What the two threads share. All of it on one CPU: the orders are for the compiler and for a P1 that was moved.
struct Meeting {
  sem_t begin;                          // P2 asks P1 for a preemption
  std::atomic<std::int64_t> served{0};  // how many P1 has given
  std::int64_t t2_ns = 0;
  std::int64_t t3_ns = 0;
  std::int64_t sleep_ns = 0;
  std::int64_t spin_ns = 0;
  std::int64_t timeout_ns = 0;
  std::atomic<std::int64_t> asked{0};     // which point it is for
  std::vector<std::int64_t> p1_switches;  // against P1's will, so far, at each asking and at its end

  Meeting() { ::sem_init(&begin, 0, 0); }
  ~Meeting() { ::sem_destroy(&begin); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
};

std::int64_t involuntary_switches() {
  struct rusage usage;
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// P1. A kick interrupts its waits.
Status preempt(PointsThread& thread, Meeting& meeting) {
  while (!thread.stopped()) {
    if (::sem_wait(&meeting.begin) != 0) continue;
    meeting.p1_switches[static_cast<std::size_t>(meeting.asked.load(std::memory_order_relaxed))] =
        involuntary_switches();
    const std::int64_t wake_ns = monotonic_now_ns() + meeting.sleep_ns;
    while (!thread.stopped() && sleep_until(wake_ns) == -EINTR) {
    }
    const std::int64_t t2_ns = monotonic_now_ns();
    const std::int64_t until_ns = t2_ns + meeting.spin_ns;
    while (monotonic_now_ns() < until_ns) {
    }
    meeting.t2_ns = t2_ns;
    meeting.t3_ns = monotonic_now_ns();
    meeting.served.fetch_add(1, std::memory_order_release);
  }
  meeting.p1_switches[static_cast<std::size_t>(meeting.asked.load(std::memory_order_relaxed)) + 1] =
      involuntary_switches();
  return {};
}

// A third task can take the CPU from P1 as well, which P1 says when it is asked the next time.
PointsOutcomes conclude(const Meeting& meeting, PointsTable& table) {
  const auto& switches = meeting.p1_switches;
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows); ++row) {
    const auto asked = static_cast<std::size_t>(table.columns.front()[row]);
    if (asked + 1 < switches.size() && switches[asked + 1] != switches[asked])
      table.columns.back()[row] |= row_switched_out;
  }
  return {table.rows, table.missed, {{"spin_ns", meeting.spin_ns}}};
}

// P2's spinning: from one reading to the next lies every preemption, whole. False when none came in time, or the run was stopped.
bool spin_until_preempted(const PointsThread& thread, const Meeting& meeting, std::int64_t served,
                          PreemptionTimes& times) {
  std::int64_t before_ns = monotonic_now_ns();
  const std::int64_t limit_ns = before_ns + meeting.timeout_ns;
  for (;;) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (now_ns - before_ns >= meeting.spin_ns && meeting.served.load(std::memory_order_acquire) != served) {
      times = {before_ns, meeting.t2_ns, meeting.t3_ns, now_ns};
      return true;
    }
    before_ns = now_ns;
    if (now_ns >= limit_ns || thread.stopped()) return false;
  }
}

// Readings that are not in order are those of two different preemptions: their differences mean nothing, and no statistic may hold them.
void record(PointsThread& thread, std::int64_t spin_ns, const PreemptionTimes& times, bool others) {
  const Preemption point = judge(times, spin_ns);
  if (!point.passed) return thread.missed();
  thread.add(times.t2 - thread.t0_ns(), point.cs1_ns, point.wait_ns, point.cs2_ns,
             others ? row_switched_out : 0);
}

// P2. Asking P1 costs two switches before the spinning begins; they are not measured.
Status be_preempted(PointsThread& thread, Meeting& meeting) {
  SpinWindow window(monotonic_now_ns());
  while (thread.more(monotonic_now_ns())) {
    const std::int64_t served = meeting.served.load(std::memory_order_acquire);
    meeting.asked.store(thread.rows() + thread.missed_points(), std::memory_order_relaxed);
    ::sem_post(&meeting.begin);
    const std::int64_t switches = involuntary_switches();
    PreemptionTimes times;
    if (spin_until_preempted(thread, meeting, served, times)) {
      record(thread, meeting.spin_ns, times, involuntary_switches() - switches != 1);
    } else if (!thread.stopped()) {
      thread.missed();
    }
    while (!thread.stopped() && meeting.served.load(std::memory_order_acquire) == served)
      sleep_until_ns(monotonic_now_ns() + 1'000'000);  // after a time-out: the late one is nobody's
    window.pause_if_over(monotonic_now_ns());
  }
  return {};
}

Status check(const Params& in) {
  for (const std::string_view name : {"high", "low"})
    if (in.integer(name) < 1 || in.integer(name) > 99)
      return usage_error("--" + std::string(name) + " is a priority from 1 to 99, not " + in.text(name));
  if (in.integer("high") <= in.integer("low"))
    return usage_error("P1 does not preempt P2 where --high is not above --low",
                       "Give --high the greater priority, such as --high 80 --low 70");
  if (in.integer("spin") < 1000 || in.integer("spin") > 100'000'000)
    return usage_error("--spin " + in.text("spin") + " is not possible", "Choose from 1us to 100ms");
  if (in.integer("sleep") < 1000 || in.integer("sleep") > 100'000'000)
    return usage_error("--sleep " + in.text("sleep") + " is not possible", "Choose from 1us to 100ms");
  if (in.integer("timeout") <= in.integer("sleep") + in.integer("spin") ||
      in.integer("timeout") > 1'000'000'000)
    return usage_error("--timeout must be longer than --sleep and --spin together, and at most 1s");
  return {};
}

SchedPolicy fifo(const Params& in, std::string_view name) {
  return {.kind = SchedKind::fifo, .priority = static_cast<int>(in.integer(name))};
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  if (const Status right = check(in); !right) return right.error();
  PointsPlan plan;
  const auto cpus = choose_points_cpus(cell, plan);
  if (!cpus) return cpus.error();
  if (cpus->size() != 1)
    return usage_error("preemption is measured on one CPU, not on " + in.text("cpus"), "Give --cpus one CPU");
  if (const Status left = leave_a_cpu(in, *cpus); !left) return left.error();
  if (const Status may = may_have_policy(fifo(in, "high"), cell.root()); !may) return may.error();
  Meeting meeting;
  meeting.sleep_ns = in.integer("sleep");
  meeting.spin_ns = in.integer("spin");
  meeting.timeout_ns = in.integer("timeout");
  plan.labels.insert(plan.labels.begin(), {{"sleep", in.text("sleep")},
                                           {"policy", "fifo:" + in.text("high") + "/" + in.text("low")}});
  plan.threads = {
      {"P2", *cpus, fifo(in, "low"), true,
       [&](PointsThread& thread) { return be_preempted(thread, meeting); }},
      {"P1", *cpus, fifo(in, "high"), false, [&](PointsThread& thread) { return preempt(thread, meeting); }}};
  plan.switched_by_design = true;
  meeting.p1_switches.resize(static_cast<std::size_t>(plan.points) + 1);
  plan.conclude = [&](std::vector<PointsTable>& tables) { return conclude(meeting, tables.front()); };
  return measure_points(cell, std::move(plan));
}

// By half of each second.
double turn_ns(const Params& in) {
  return 2 * (in.number("sleep") + in.number("spin")) + 100'000;
}

Turn turn_in_guest(const Params& in) {
  return {in.number("sleep") + in.number("spin"), 12'000};
}

}  // namespace

extern const Test test_preemption;
const Test test_preemption = {
    .name = "preemption",
    .summary = "a task of higher priority takes the CPU and gives it back",
    .params = params,
    .columns = columns,
    .needs = "the right to real-time scheduling (CAP_SYS_NICE or ulimit -r)",
    .run = run,
    .example = "howlate-probe preemption --points 100000 --sleep 200us --high 80 --low 70",
    .turn_ns = turn_ns,
    .turn_in_guest = turn_in_guest,
};

}  // namespace howlate
