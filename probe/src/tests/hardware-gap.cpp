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
#include "tests/test.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"points", ParamType::count, "10000", "1", "",
     "end after so many gaps (with hwlat: windows that had one)", false, true},
    {"duration", ParamType::duration, "10s", "ns", "", "end after this time, if that comes first", false,
     true},
    points_warm_up,
    points_cpus,
    points_policy,
    points_occupy_all,
    {"source", ParamType::choice, "", "", "hwlat|spin",
     "the kernel's tracer, or a task that spins; hwlat where it exists"},
    {"threshold", ParamType::duration, "10us", "ns", "", "shorter gaps are none"},
    {"window", ParamType::duration, "1s", "ns", "", "a CPU is watched once in this time"},
    {"width", ParamType::duration, "500ms", "ns", "", "for so long"},
    {"each-cpu", ParamType::flag, "", "", "", "with hwlat: all CPUs at once, not one after the other"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the gap"},
    {"time_ns", ColumnType::i64, "its end, as an offset from t0"},
    {"gap_ns", ColumnType::i64, "its length"},
    {"in_window", ColumnType::i64,
     "hwlat: how many gaps its window had; spin: which one of its window it is"},
    {"cpu", ColumnType::i64, "where"},
    {"flags", ColumnType::u8,
     "bit 0: warm-up; bit 1: the kernel ran another task meanwhile: no hardware gap"},
};

constexpr Need modules[] = {{"msr"}};

Result<std::unique_ptr<GapSource>> choose_source(Cell& cell) {
  Params& in = cell.params();
  const Status hwlat = gap_hwlat_available(cell.root());
  if (!in.is_set("source")) {
    in.put("source", hwlat ? "hwlat" : "spin");
    if (!hwlat)
      cell.warn("a task watches instead of the kernel (" + hwlat.error().message +
                "): it cannot tell the kernel's interrupts, non-maskable ones, a hypervisor and the firmware "
                "apart");
  }
  if (in.text("source") == "hwlat") {
    if (hwlat) return make_gap_hwlat(cell.root());
    Error why = hwlat.error();
    why.remedy =
        "Use --source spin, which needs no tracer, or a kernel with CONFIG_HWLAT_TRACER (Debian's RT "
        "kernels)";
    return why;
  }
  if (const Status spin = gap_spin_available(cell.root()); !spin) return spin.error();
  return make_gap_spin(cell.root());
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

// SMIs that the CPUs have counted, of the one that counted most; -1 if they do not.
std::int64_t smi_count(const Root& root, const std::vector<int>& cpus) {
  const SmiCounter counter(root);
  std::int64_t most = -1;
  for (const int cpu : cpus) most = std::max(most, counter.read(cpu));
  return most;
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
    cell.warn("--duration " + in.text("duration") + " is shorter than --window " + in.text("window") +
              ": perhaps nothing is watched");
  const auto source = choose_source(cell);
  if (!source) return source.error();
  const bool spins = in.text("source") == "spin";
  if (const Status left = spins ? leave_a_cpu(in, gap.cpus) : Status(); !left) return left.error();
  for (const std::string_view name : {"source", "threshold", "window", "width"})
    plan.labels.emplace_back(name, in.text(name));
  constexpr std::int64_t grace_ns = 30'000'000'000;
  plan.stall_ns = gap.duration_ns + 2 * gap.window_ns + grace_ns;  // to see nothing is the good result
  std::int64_t smi_before = -1;
  plan.set_up = [&] {
    smi_before = smi_count(cell.root(), gap.cpus);
    return (*source)->set_up(gap);
  };
  plan.threads = (*source)->threads(gap);
  plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    (*source)->tell(outcomes);
    const std::int64_t smi_after = smi_count(cell.root(), gap.cpus);
    if (smi_before >= 0 && smi_after >= 0) outcomes.figures.emplace_back("smi", smi_after - smi_before);
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

// Where every window has a gap; what ends it is --duration as a rule.
constexpr PointTerm point_ns[] = {{.factor = 1, .option = "window"}};

}  // namespace

extern const Test test_hardware_gap;
const Test test_hardware_gap = {
    .name = "hardware-gap",
    .summary = "how long and how often hardware or firmware takes a CPU away",
    .params = params,
    .columns = columns,
    .needs =
        "root and a kernel with the tracer hwlat; without, it spins as a task and says what it cannot tell "
        "apart",
    .run = run,
    .example = "howlate-probe hardware-gap --duration 1min --threshold 10us --cpus all",
    .modules = modules,
    .point_ns = point_ns,
};

}  // namespace howlate
