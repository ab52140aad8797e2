// irq: how late a periodic interrupt's handler runs, and how late the task that it wakes.
//
// From: the instant for which a timer of the kernel was programmed. To: the first time stamp of its handler, in hard-interrupt
// context (irq_latency_ns); and to the first time stamp of the FIFO, memory-locked task that the handler wakes (wake_latency_ns): both
// from the same instant, so the second holds the first. Included: the timer device's delay, sections with interrupts off, the entry into
// the kernel, handlers that are served before; then the wake-up, the switch to the task and its return to user space. Its own cost: one
// clock read and 32 bytes stored in the handler, one system call of the task an interrupt. It disturbs the machine by these. Source: the
// driver of a published measurement on an SH-4A board (sh7780-2008), which does the same with two channels of the on-chip timer.
// docs/tests/irq.md tells what the numbers mean.
#include <algorithm>

#include "core/text.hpp"
#include "howlate_abi.h"
#include "irq/source.hpp"
#include "points/points.hpp"
#include "sys/elsewhere.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

const std::string source_names = choices_of(irq_sources());
const std::string source_help = summaries_of(irq_sources());

const ParamSpec params[] = {
    points_param("10000"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    {"source", ParamType::choice, "module", "", source_names, source_help},
    {"period", ParamType::duration, "1ms", "ns", "", "distance between two interrupts"},
    {"maximum-only", ParamType::flag, "", "", "", "keep only the two maxima"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the interrupt"},
    {"time_ns", ColumnType::i64, "the instant at which it was due, as an offset from t0"},
    {"irq_latency_ns", ColumnType::i64,
     "first time stamp of the handler minus the instant at which it was due"},
    {"wake_latency_ns", ColumnType::i64,
     "first time stamp of the woken task minus the instant at which it was due", true},
    {"flags", ColumnType::u8, "0"},
};

std::vector<Need> needed_modules() {
  std::vector<Need> modules;
  for (const IrqSource* const source : irq_sources())
    if (!source->module.empty()) modules.push_back({source->module, "source", source->name});
  return modules;
}
const std::vector<Need> modules = needed_modules();

// What to do where a source is not there: the reason's own remedy, and the nearest test that needs none.
Error with_nearest(Error why, std::string_view source, const Root& root) {
  if (!why.remedy.empty()) why.remedy += "; or ";
  const auto tracer = find_irq_source("timerlat");
  why.remedy += tracer && source != (*tracer)->name && (*tracer)->available(root)
                    ? "use --source timerlat, which needs no module"
                    : "use the test cyclic: the whole wake-up latency, without its part before the handler";
  return why;
}

Result<const IrqSource*> choose_source(const Params& in, const Root& root) {
  auto source = find_irq_source(in.text("source"));
  if (!source) return source;
  if (const Status there = if_here((*source)->available(root)); !there)
    return with_nearest(there.error(), (*source)->name, root);
  return source;
}

Result<IrqPlan> choose_plan(const Params& in, const PointsChoice& choice, const PointsPlan& plan) {
  if (choice.cpus.size() != 1)
    return usage_error("an interrupt comes on one CPU, not on " + cpu_list_text(choice.cpus),
                       "Give --cpus one CPU");
  if (const Status period = check_period(in, HOWLATE_IRQ_PERIOD_NS_MIN, HOWLATE_IRQ_PERIOD_NS_MAX); !period)
    return period.error();
  IrqPlan irq;
  irq.period_ns = in.integer("period");
  irq.interrupts = plan.points;
  irq.duration_ns = plan.duration_ns;
  irq.warm_up_ns = plan.warm_up_ns;
  irq.maximum_only = in.flag("maximum-only");
  irq.cpu = choice.cpus.front();
  return irq;
}

// The watchdog waits for the first point, which comes after all of them where a source tells its points at the end.
std::int64_t stall_ns_of(const IrqPlan& irq) {
  constexpr std::int64_t least_ns = 30'000'000'000;
  const std::int64_t all_ns =
      irq.interrupts > INT64_MAX / 4 / irq.period_ns ? INT64_MAX / 4 : irq.interrupts * irq.period_ns;
  return 2 * (irq.duration_ns > 0 ? std::min(all_ns, irq.duration_ns) : all_ns) + least_ns;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  PointsPlan plan;
  const auto choice = choose_points(cell, plan);
  if (!choice) return choice.error();
  const auto irq = choose_plan(in, *choice, plan);
  if (!irq) return irq.error();
  const auto source = choose_source(in, cell.root());
  if (!source) return source.error();

  const std::unique_ptr<IrqRun> from = (*source)->make(cell.root());
  if (irq->maximum_only) {
    plan.points = 1;
    plan.duration_ns = 0;  // the source ends by itself and gives its one row then
  }
  plan.labels.emplace_back("source", in.text("source"));
  plan.labels.emplace_back("period", in.text("period"));
  if (!from->woken().empty())
    for (auto& [name, value] : plan.labels)
      if (name == "policy") value = from->woken();
  plan.stall_ns = stall_ns_of(*irq);
  plan.set_up = [&] { return from->set_up(*irq); };
  plan.threads.push_back({"irq", choice->cpus, choice->policy, true,
                          [&](PointsThread& thread) { return from->measure(*irq, thread); }});
  plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    from->tell(outcomes);
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

double turn_ns(const Params& in) {
  return in.number("period");
}

}  // namespace

extern const Test test_irq;
const Test test_irq = {
    .name = "irq",
    .summary = "how late an interrupt's handler runs, and how late the task that it wakes",
    .params = params,
    .columns = columns,
    .needs =
        "root and the module howlate_irq of kmod/; with --source hpet an x86 machine and howlate_hpet; with "
        "--source timerlat a kernel with that tracer and no module",
    .run = run,
    .example = "howlate-probe irq --period 1ms --points 10000 --load hackbench:10",
    .modules = modules,
    .turn_ns = turn_ns,
};

}  // namespace howlate
