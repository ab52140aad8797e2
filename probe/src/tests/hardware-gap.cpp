// hardware-gap: how long and how often the hardware or its firmware takes a CPU away (SMI and the like).
//
// From: one reading of a clock. To: the next one, where more than `threshold` lies between them. With the kernel's hwlat tracer the
// reader holds the CPU with its interrupts off: what it misses is the firmware's, the hypervisor's or a non-maskable interrupt's. The
// fallback is a FIFO task, to which the kernel's own interrupts look the same. Its own cost: the CPU that watches, for `width` in each
// `window`; it is not free for anybody else meanwhile, and hwlat lets no interrupt through. Gaps outside of the windows are not seen; the
// CPU's own counter of SMIs, where there is one, is read before and after. Source: the SMI test of a published test environment
// (tut-2017). docs/tests/hardware-gap.md tells what the numbers mean.
#include <algorithm>

#include "core/text.hpp"
#include "gap/source.hpp"
#include "points/points.hpp"
#include "sys/cpus.hpp"
#include "sys/elsewhere.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

const std::string source_names = choices_of(gap_sources());
const std::string source_help = summaries_of(gap_sources()) + "; by default hwlat where it exists";

const ParamSpec params[] = {
    {"points", ParamType::count, "10000", "1", "",
     "end after this many gaps (with hwlat: windows with a gap)", false, true},
    {"duration", ParamType::duration, "10s", "ns", "", "end after this time, if that comes first", false,
     true},
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    points_occupy_all,
    {"source", ParamType::choice, "", "", source_names, source_help},
    {"threshold", ParamType::duration, "10us", "ns", "", "do not count shorter gaps"},
    {"window", ParamType::duration, "1s", "ns", "", "watch each CPU once in this time"},
    {"width", ParamType::duration, "500ms", "ns", "", "for so long"},
    {"each-cpu", ParamType::flag, "", "", "", "with hwlat: watch all CPUs at once, not one after the other"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the gap"},
    {"time_ns", ColumnType::i64, "its end, as an offset from t0"},
    {"gap_ns", ColumnType::i64, "its length", true},
    {"in_window", ColumnType::i64, "hwlat: how many gaps its window had; spin: its number within its window"},
    {"cpu", ColumnType::i64, "where"},
    {"flags", ColumnType::u8, "bit 1: the kernel ran another task during the gap, so it is no hardware gap"},
};

constexpr Need modules[] = {{"msr"}};

Result<const GapSource*> choose_source(Cell& cell) {
  Params& in = cell.params();
  const auto hwlat = find_gap_source("hwlat");
  if (!hwlat) return hwlat;
  const Status tracer = if_here((*hwlat)->available(cell.root()));
  if (!in.is_set("source")) {
    in.put("source", tracer ? "hwlat" : "spin");
    if (!tracer)
      cell.warn(
          "probe.watched-by-task",
          "a task watches instead of the kernel (" + tracer.error().message +
              "): it cannot tell the kernel's interrupts, non-maskable ones, a hypervisor and the firmware "
              "apart");
  }
  const auto source = find_gap_source(in.text("source"));
  if (!source) return source;
  const Status there = if_here((*source)->available(cell.root()));
  if (there) return source;
  Error why = there.error();
  if (*source == *hwlat)
    why.remedy =
        "Use --source spin, which needs no tracer, or a kernel with CONFIG_HWLAT_TRACER (Debian's RT "
        "kernels)";
  return why;
}

Status check_times(const GapPlan& plan) {
  constexpr std::int64_t us = 1000;
  if (plan.threshold_ns < us || plan.threshold_ns % us != 0 || plan.width_ns % us != 0 ||
      plan.window_ns % us != 0)
    return usage_error("--threshold, --window and --width are whole microseconds, and more than 0");
  if (plan.width_ns <= 0 || plan.width_ns >= plan.window_ns)
    return usage_error(
        "--width must be more than 0 and less than --window: nobody else has the CPU meanwhile");
  if (plan.width_ns > 10'000'000'000) return usage_error("--width can be at most 10s");
  return {};
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  PointsPlan plan;
  const auto choice = choose_points(cell, plan);
  if (!choice) return choice.error();
  GapPlan gap{choice->cpus,        choice->policy,   in.integer("threshold"), in.integer("window"),
              in.integer("width"), plan.duration_ns, in.flag("each-cpu")};
  if (const Status times = check_times(gap); !times) return times.error();
  if (gap.duration_ns < gap.window_ns)
    cell.warn("probe.watched-too-short", "--duration " + in.text("duration") + " is shorter than --window " +
                                             in.text("window") + ": perhaps nothing is watched");
  const auto source = choose_source(cell);
  if (!source) return source.error();
  if (const Status left = (*source)->spins ? leave_a_cpu(in, gap.cpus) : Status(); !left) return left.error();
  const std::unique_ptr<GapRun> watch = (*source)->make(cell.root());
  for (const std::string_view name : {"source", "threshold", "window", "width"})
    plan.labels.emplace_back(name, in.text(name));
  constexpr std::int64_t grace_ns = 30'000'000'000;
  plan.stall_ns = gap.duration_ns + 2 * gap.window_ns + grace_ns;  // to see nothing is the good result
  std::vector<SmiReading> smis;
  plan.set_up = [&] {
    smis = read_smis_before(cell.root(), gap.cpus);
    return watch->set_up(gap);
  };
  plan.threads = watch->threads(gap);
  plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    watch->tell(outcomes);
    read_smis_after(cell.root(), smis);
    if (const auto most = most_smis(smis)) outcomes.figures.emplace_back("smi", *most);
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

// Where every window has a gap; what ends it is --duration as a rule.
double turn_ns(const Params& in) {
  return in.number("window");
}

}  // namespace

extern const Test test_hardware_gap;
const Test test_hardware_gap = {
    .name = "hardware-gap",
    .summary = "how long and how often hardware or firmware takes a CPU away",
    .params = params,
    .columns = columns,
    .needs =
        "root and a kernel with the tracer hwlat; without it the test spins as a task and says what it "
        "cannot "
        "tell apart",
    .run = run,
    .example = "howlate-probe hardware-gap --duration 1min --threshold 10us --cpus all",
    .modules = modules,
    .turn_ns = turn_ns,
};

}  // namespace howlate
