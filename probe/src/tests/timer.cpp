// timer: how late a sleep ends that follows no schedule.
//
// From: the instant at which the sleep was to end, which is the clock just before it began plus --sleep. To: the first time stamp
// in user space after it (CLOCK_MONOTONIC). With an absolute way to sleep the kernel is given that instant; with a relative one the
// time that is left until then. Included: the way into the kernel as far as it is longer than the sleep, the timer, its interrupt,
// the wake-up, the switch to the thread, the return to user space, one clock reading. Its own cost: two clock readings and three
// stores a sleep. It disturbs the machine by one thread that is awake between two sleeps. The ways to sleep are those of cyclic
// (timers/). Source: the absolute and relative timer accuracy tests of tut-2017. docs/tests/timer.md tells more.
#include "timers/timer.hpp"

#include "core/text.hpp"
#include "points/points.hpp"
#include "sys/elsewhere.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

constexpr std::int64_t sleep_ns_min = 1'000;
constexpr std::int64_t sleep_ns_max = 10'000'000'000;

constexpr ParamSpec params[] = {
    {"timer", ParamType::text, "clock_nanosleep", "", "",
     "the way to sleep: clock_nanosleep is absolute, clock_nanosleep-relative relative; others as in cyclic"},
    {"sleep", ParamType::duration, "5us", "ns", "", "length of each sleep, from 1us to 10s"},
    points_param("100000"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    points_occupy_all,
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the sleep"},
    {"time_ns", ColumnType::i64, "the planned end of the sleep, as an offset from t0"},
    {"delay_ns", ColumnType::i64, "first user-space time stamp minus the planned end", true},
    {"flags", ColumnType::u8, "bit 1: switched out before this time stamp (spinning)"},
};
constexpr std::size_t time_column = 1;
constexpr std::size_t delay_column = 2;
constexpr std::size_t flags_column = 3;

Status sleep_and_compare(PointsThread& thread, const Timer& timer, std::int64_t sleep_ns) {
  DelayRun delays;
  delays.sleep_ns = sleep_ns;
  delays.planned_ns = thread.column(time_column);
  delays.delay_ns = thread.column(delay_column);
  delays.flags = thread.column(flags_column);
  delays.t0_ns = thread.t0_ns();
  delays.end_ns = thread.end_ns();
  delays.windows = timer.windows;
  delays.made = [](void* context, std::int64_t count) { static_cast<PointsThread*>(context)->wrote(count); };
  delays.context = &thread;
  LoopContext loop;
  loop.stop = thread.stop_flag();
  loop.delays = &delays;
  const Status status = timer.run(loop);
  thread.count_from(loop.before);
  thread.served_before_t0(loop.warm_up);
  if (loop.stop_reason == StopReason::duration) thread.ran_out_of_time();
  const auto rows = static_cast<std::size_t>(thread.rows());
  for (std::int64_t& planned : delays.planned_ns.first(rows)) planned -= thread.t0_ns();
  return status;
}

Result<const Timer*> choose_timer(const Params& in, std::size_t threads) {
  const auto timer = find_built_timer(in.text("timer"));
  if (!timer) return timer.error();
  const Timer& chosen = **timer;
  if (!chosen.core.empty())
    return usage_error(
        in_quotes(chosen.name) + " counts switches of stage, and this test has no account of them",
        "Use the test cyclic");
  if (!chosen.armed_each_activation)
    return usage_error("the kernel repeats " + in_quotes(chosen.name) + " by itself: it has no single sleeps",
                       "Choose a timer that is armed for each, such as clock_nanosleep");
  if (chosen.one_thread && threads > 1)
    return usage_error(in_quotes(chosen.name) + " belongs to the whole process and can wake one thread only",
                       "Give --cpus one CPU, or choose another timer");
  if (const Status there = if_here(chosen.available()); !there) return there.error();
  return timer;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const std::int64_t sleep_ns = in.integer("sleep");
  if (sleep_ns < sleep_ns_min || sleep_ns > sleep_ns_max)
    return usage_error("--sleep " + in.text("sleep") + " is not possible", "Choose from 1us to 10s");
  PointsPlan plan;
  plan.labels = {{"timer", in.text("timer")}, {"sleep", in.text("sleep")}};
  const auto chosen = choose_points(cell, plan);
  if (!chosen) return chosen.error();
  const auto timer = choose_timer(in, chosen->cpus.size());
  if (!timer) return timer.error();
  const Timer& way = **timer;
  if (way.windows)
    if (const Status left = leave_a_cpu(in, chosen->cpus); !left) return left.error();
  plan.stall_ns = 3 * sleep_ns_max;
  for (const int cpu : chosen->cpus)
    plan.threads.push_back(
        {"timer/" + std::to_string(cpu), {cpu}, chosen->policy, true, [&way, sleep_ns](PointsThread& thread) {
           return sleep_and_compare(thread, way, sleep_ns);
         }});
  return measure_points(cell, std::move(plan));
}

// Late, and the way back; a spinning one works for half of each second.
double turn_ns(const Params& in) {
  return in.number("sleep") * (in.text("timer") == "spin" ? 2 : 1) + 50'000;
}

Turn turn_in_guest(const Params& in) {
  return {in.number("sleep"), 4'500};
}

}  // namespace

extern const Test test_timer;
const Test test_timer = {
    .name = "timer",
    .summary = "how late a single sleep ends",
    .params = params,
    .columns = columns,
    .needs = needs_fifo_or_rr,
    .run = run,
    .example = "howlate-probe timer --timer clock_nanosleep-relative --sleep 5us --points 1000000",
    .turn_ns = turn_ns,
    .turn_in_guest = turn_in_guest,
};

}  // namespace howlate
