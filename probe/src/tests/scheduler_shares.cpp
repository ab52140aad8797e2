// shares: what a nice value is worth.
//
// Two SCHED_OTHER tasks compute for ever on one CPU, one at nice 0, the other at --nice. A point is a window of --window: nice0_ns and
// niced_ns are the CPU time that the kernel booked for each between the first clock reading at or after one window's end and the one
// at or after the next's, made by the task at nice 0. window_ns is the time between these readings, so windows leave nothing out. Its own
// cost: a clock reading in each microsecond or so, two readings of CPU clocks a window. Shares are ratios of sums over all windows.
#include "tests/scheduler_shares.hpp"

#include <pthread.h>
#include <time.h>

#include <array>
#include <atomic>

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/rights.hpp"
#include "timers/work.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "begin of the window, as an offset from t0"},
    {"window_ns", ColumnType::i64, "its length"},
    {"nice0_ns", ColumnType::i64, "CPU time in it of the task at nice 0"},
    {"niced_ns", ColumnType::i64, "CPU time in it of the task at --nice"},
    {"flags", ColumnType::u8, "bit 1: switched out (all of them)"},
};
enum ColumnNumber : std::size_t { nice0 = 3, niced = 4 };

constexpr std::array<std::int64_t, 40> weights = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

// The second task, as the first one sees it.
struct Competitor {
  std::atomic<clockid_t> clock{0};
  std::atomic<bool> there{false};
};

std::int64_t cpu_time_ns(clockid_t clock) {
  struct timespec used {};
  ::clock_gettime(clock, &used);
  return ns_of(used);
}

Status compete(const PointsThread& thread, Competitor& competitor) {
  clockid_t clock = 0;
  if (const int error = ::pthread_getcpuclockid(::pthread_self(), &clock); error != 0)
    return broken("a task's CPU time cannot be read: " + errno_text(error));
  competitor.clock.store(clock, std::memory_order_relaxed);
  competitor.there.store(true, std::memory_order_release);
  while (!thread.stopped()) do_work(1'000);
  return {};
}

struct Usage {
  std::int64_t at_ns = 0, own_ns = 0, other_ns = 0;
};

Usage read_usage(const Competitor& competitor) {
  return {monotonic_now_ns(), cpu_time_ns(CLOCK_THREAD_CPUTIME_ID),
          cpu_time_ns(competitor.clock.load(std::memory_order_relaxed))};
}

Status ask(PointsThread& thread, const Competitor& competitor, std::int64_t window_ns) {
  while (!competitor.there.load(std::memory_order_acquire) && !thread.stopped())
    sleep_until_ns(monotonic_now_ns() + 200'000);
  if (thread.stopped()) return {};
  Usage before = read_usage(competitor);
  for (std::int64_t due_ns = before.at_ns + window_ns; thread.more(before.at_ns); due_ns += window_ns) {
    while (monotonic_now_ns() < due_ns && !thread.stopped()) do_work(1'000);
    if (thread.stopped()) break;
    const Usage after = read_usage(competitor);
    thread.add(before.at_ns - thread.t0_ns(), after.at_ns - before.at_ns, after.own_ns - before.own_ns,
               after.other_ns - before.other_ns, row_switched_out);
    before = after;
  }
  return {};
}

PointsOutcomes conclude(const PointsTable& table, int nice) {
  std::int64_t own_ns = 0, other_ns = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows); ++row) {
    own_ns += table.columns[nice0][row];
    other_ns += table.columns[niced][row];
  }
  PointsOutcomes outcomes;
  if (own_ns + other_ns > 0)
    outcomes.figures.emplace_back("share",
                                  static_cast<double>(other_ns) / static_cast<double>(own_ns + other_ns));
  outcomes.figures.emplace_back("expected_share", expected_share(nice));
  return outcomes;
}

}  // namespace

std::int64_t nice_weight(int nice) {
  return weights[static_cast<std::size_t>(nice - nice_min)];
}

double expected_share(int nice) {
  const auto weight = static_cast<double>(nice_weight(nice));
  return weight / (weight + static_cast<double>(nice_weight(0)));
}

Result<ExitCode> ask_about_shares(Cell& cell, PointsPlan plan, int cpu) {
  constexpr std::int64_t window_ns_min = 1'000'000, window_ns_max = 10'000'000'000;
  Params& in = cell.params();
  const std::int64_t asked = in.integer("nice"), window_ns = in.integer("window");
  if (asked < nice_min || asked > nice_max)
    return usage_error("--nice " + in.text("nice") + " is not possible", "Choose from -20 to 19");
  if (window_ns < window_ns_min || window_ns > window_ns_max)
    return usage_error("--window " + in.text("window") + " is not possible", "Choose from 1ms to 10s");
  const int nice = static_cast<int>(asked);
  const SchedPolicy other{.kind = SchedKind::other, .nice = nice};
  if (const Status may = may_have_policy(other, cell.root()); !may && nice < 0)
    return not_possible("this user may not have a task at nice " + std::to_string(nice),
                        remedy_of_root() + ", or raise 'ulimit -e' (nice in /etc/security/limits.conf)");
  else if (!may)
    return may.error();
  plan.labels.emplace_back("nice", in.text("nice"));
  plan.columns = columns;
  plan.switched_by_design = true;
  Competitor competitor;
  plan.threads = {{"scheduler/nice0",
                   {cpu},
                   {},
                   true,
                   [&](PointsThread& thread) { return ask(thread, competitor, window_ns); }},
                  {"scheduler/niced", {cpu}, other, false, [&](PointsThread& thread) {
                     return compete(thread, competitor);
                   }}};
  plan.conclude = [nice](std::vector<PointsTable>& tables) { return conclude(tables.front(), nice); };
  return measure_points(cell, std::move(plan));
}

}  // namespace howlate
