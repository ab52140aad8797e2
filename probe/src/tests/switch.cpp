// switch: what it costs to hand the CPU from one task to another and back.
//
// From: the clock before the first hand-over of a data point. To: the clock after the last hand-over back. Between them lie
// --switches-per-point hand-overs, each of which ends with the other task running: the call that wakes it, the call that waits, the
// scheduler, the switch itself, the memory and caches of the other. switch_ns is the whole by their number. Its own cost: two clock
// readings a point, one load and one comparison a turn. It disturbs the CPU that it keeps busy, half a second in each second; on one
// CPU there is no idle time in it. Source: the context switch test of a published test environment (tut-2017), by two mutexes.
// docs/tests/switch.md tells more.
#include "switches/switch.hpp"

#include <algorithm>
#include <memory>

#include "core/text.hpp"
#include "points/points.hpp"
#include "switches/partner.hpp"
#include "sys/elsewhere.hpp"
#include "sys/file.hpp"
#include "sys/thread.hpp"
#include "tests/test.hpp"
#include "timers/work.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"by", ParamType::text, "mutex", "", "", "the way to hand over; `howlate-probe list` names all"},
    {"between", ParamType::choice, "threads", "", "threads|processes", "what the two tasks are"},
    {"place", ParamType::choice, "same", "", "same|across", "both on one CPU, or each on one of two"},
    {"switches-per-point", ParamType::count, "1000", "1", "", "hand-overs in each data point; even"},
    {"work", ParamType::duration, "0ns", "ns", "",
     "arithmetic of each task in each of its turns, included in the times"},
    points_param("10000"),
    points_duration,
    points_first,
    warm_up_param,
    {"cpus", ParamType::cpus, "", "", "",
     "the CPU, or two with --place across; by default the highest allowed"},
    points_policy,
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "its start, as an offset from t0"},
    {"switch_ns", ColumnType::i64, "point_ns divided by the number of switches, rounded"},
    {"point_ns", ColumnType::i64, "from before the first switch of the point to after its last"},
    {"flags", ColumnType::u8, "bit 1: another task had the CPU during the point"},
};

constexpr std::int64_t switches_max = 100'000'000;
constexpr std::int64_t rounds_after_pause = 16;  // not recorded: caches are cold
constexpr std::int64_t work_max_ns = 1'000'000'000;

// All that a run has.
struct Duel {
  std::int64_t rounds = 0;  // of a point: there and back
  std::int64_t work_ns = 0;
  bool one_cpu = false;
  std::unique_ptr<SwitchPair> pair;
  PartnerProcess process;
  std::int64_t counted = 0;  // of the leader's switches within points, as the kernel counts them
  std::int64_t own_ns = INT64_MAX;
};

// The duration of a point without a switch in it.
std::int64_t cost_of_nothing() {
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin_ns = monotonic_now_ns();
    least = std::min(least, monotonic_now_ns() - begin_ns);
  }
  return least;
}

std::int64_t switches_so_far() {
  const ThreadCounters now = read_thread_usage();
  return now.voluntary_switches + now.involuntary_switches;
}

void make_points(PointsThread& thread, Duel& duel) {
  SwitchPair& pair = *duel.pair;
  std::int64_t now_ns = monotonic_now_ns();
  SpinWindow window(now_ns);
  bool going = pair.lead(thread, rounds_after_pause);
  while (going && thread.more(now_ns)) {
    if (window.pause_if_over(now_ns) && !pair.lead(thread, rounds_after_pause)) break;
    const std::int64_t switched_before = switches_so_far();
    const std::int64_t begin_ns = monotonic_now_ns();
    going = pair.lead(thread, duel.rounds);
    now_ns = monotonic_now_ns();
    if (!going) break;
    const std::int64_t switched = switches_so_far() - switched_before;
    const std::int64_t took_ns = now_ns - begin_ns;
    const std::int64_t made = 2 * duel.rounds;
    if (thread.add(begin_ns - thread.t0_ns(), (took_ns + made / 2) / made, took_ns,
                   duel.one_cpu && switched > duel.rounds ? row_switched_out : 0))
      duel.counted += switched;
  }
}

Status lead(PointsThread& thread, Duel& duel) {
  SwitchPair& pair = *duel.pair;
  if (duel.work_ns != 0)
    pair.control().work.store(work_iterations(duel.work_ns, measure_work_speed()), std::memory_order_relaxed);
  duel.own_ns = cost_of_nothing();
  pair.begin();
  make_points(thread, duel);
  const bool deserted = pair.control().over();
  pair.finish();
  if (const int failed = pair.control().error.load(); failed != 0)
    return broken("handing over failed while measuring: " + errno_text(failed));
  if (deserted) return broken("the partner's process ended while it was measured with");
  return {};
}

PointsOutcomes conclude(const std::vector<PointsTable>& tables, const Duel& duel) {
  PointsOutcomes outcomes;
  outcomes.figures = {{"switches", tables.front().rows * 2 * duel.rounds},
                      {"counted_switches", 2 * duel.counted},
                      {"own_ns", duel.own_ns},
                      {"partner_faults", duel.pair->control().faults.load()}};
  return outcomes;
}

// Across is the two highest CPUs where nothing else was said; on one CPU the highest, which is the frame's default.
Status choose_places(Params& in, const Switch& way) {
  const bool across = in.text("place") == "across";
  if (across && way.one_cpu)
    return usage_error(in_quotes(way.name) + " hands over on one CPU only", "Leave --place across out");
  if (!across || in.is_set("cpus")) return {};
  const std::vector<int> allowed = read_affinity();
  if (allowed.size() < 2)
    return not_possible("this process may use one CPU only, so nothing can be handed across",
                        "Leave --place across out");
  in.put("cpus", cpu_list_text({allowed.end() - 2, allowed.end()}));
  return {};
}

Result<std::vector<int>> check_places(const Params& in, std::vector<int> chosen) {
  const std::size_t wanted = in.text("place") == "across" ? 2 : 1;
  if (chosen.size() != wanted)
    return usage_error("--place " + in.text("place") + " needs " + (wanted == 1 ? "one CPU" : "two CPUs") +
                           ", not " + std::to_string(chosen.size()),
                       "Choose them with --cpus");
  return chosen;
}

Status read_numbers(const Params& in, Duel& duel) {
  const std::int64_t switches = in.integer("switches-per-point");
  if (switches < 2 || switches > switches_max || switches % 2 != 0)
    return usage_error("--switches-per-point " + in.text("switches-per-point") + " is not possible",
                       "Choose an even number from 2 to " + std::to_string(switches_max));
  duel.rounds = switches / 2;
  duel.work_ns = in.integer("work");
  if (duel.work_ns < 0 || duel.work_ns > work_max_ns)
    return usage_error("--work " + in.text("work") + " is not possible", "Choose from 0ns to 1s");
  return {};
}

void add_threads(PointsPlan& plan, Duel& duel, const std::vector<int>& cpus, const SchedPolicy& policy,
                 bool processes) {
  plan.threads.push_back({"switch/leader", {cpus.front()}, policy, true, [&duel](PointsThread& thread) {
                            return lead(thread, duel);
                          }});
  if (processes) {
    plan.threads.push_back({"switch/guard", read_affinity(), {}, false, [&duel](PointsThread&) -> Status {
                              duel.process.guard(*duel.pair);
                              return {};
                            }});
  } else {
    plan.threads.push_back({"switch/partner", {cpus.back()}, policy, false, [&duel](PointsThread&) -> Status {
                              duel.pair->follow();
                              return {};
                            }});
  }
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const auto way = find_switch(in.text("by"));
  if (!way) return way.error();
  if (const Status here = if_here((*way)->available()); !here) return here.error();
  Duel duel;
  if (const Status numbers = read_numbers(in, duel); !numbers) return numbers.error();
  if (const Status places = choose_places(in, **way); !places) return places.error();
  PointsPlan plan;
  plan.labels = {{"by", in.text("by")}, {"between", in.text("between")}, {"place", in.text("place")}};
  const auto chosen = choose_points(cell, plan);
  if (!chosen) return chosen.error();
  const auto cpus = check_places(in, chosen->cpus);
  if (!cpus) return cpus.error();
  const bool processes = in.text("between") == "processes";
  duel.one_cpu = cpus->size() == 1;
  add_threads(plan, duel, *cpus, chosen->policy, processes);
  plan.switched_by_design = true;
  plan.stall_ns += 4 * duel.rounds * (duel.work_ns + 10'000);
  plan.set_up = [&]() -> Status {
    auto pair = (*way)->make(processes);
    if (!pair) return pair.error();
    duel.pair = std::move(*pair);
    if (!processes) return {};
    return duel.process.start(*duel.pair, {cpus->back()}, chosen->policy, cell.root());
  };
  plan.take_down = [&] { duel.process.end(); };
  plan.conclude = [&](std::vector<PointsTable>& tables) { return conclude(tables, duel); };
  return measure_points(cell, std::move(plan));
}

// By half of each second; the work is of each of the two, once a hand-over.
double turn_ns(const Params& in) {
  return in.number("switches-per-point") * (5'000 + 2 * in.number("work"));
}

Turn turn_in_guest(const Params& in) {
  return {0, in.number("switches-per-point") * (7'000 + 2 * in.number("work"))};
}

}  // namespace

extern const Test test_switch;
const Test test_switch = {
    .name = "switch",
    .summary = "the cost of handing the CPU to another task and back",
    .params = params,
    .columns = columns,
    .needs = needs_fifo_or_rr,
    .run = run,
    .example = "howlate-probe switch --by pipe --between processes --points 1000",
    .turn_ns = turn_ns,
    .turn_in_guest = turn_in_guest,
};

}  // namespace howlate
