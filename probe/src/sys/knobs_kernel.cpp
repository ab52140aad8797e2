// Switches of the scheduler, timers, memory and interrupts.
#include <algorithm>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/knobs_table.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

constexpr const char* rt_runtime_file = "/proc/sys/kernel/sched_rt_runtime_us";
constexpr const char* rt_period_file = "/proc/sys/kernel/sched_rt_period_us";
constexpr const char* timer_migration_file = "/proc/sys/kernel/timer_migration";
constexpr const char* nmi_watchdog_file = "/proc/sys/kernel/nmi_watchdog";
constexpr const char* thp_file = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* workqueues_file = "/sys/devices/virtual/workqueue/cpumask";
constexpr const char* default_affinity_file = "/proc/irq/default_smp_affinity";

Status rt_throttling_available(const KnobContext& context) {
  return file_available(context, rt_runtime_file, "this kernel does not throttle real-time tasks");
}

Result<Settings> plan_rt_throttling(const KnobContext& context, std::string_view value) {
  if (value == "off") return Settings{file_setting(rt_runtime_file, "-1")};
  const auto runtime = to_integer(value);
  const auto period = Tree(context.root).read_integer(rt_period_file);
  if (!runtime || *runtime < 0 || (period && *runtime > *period)) {
    return usage_error(
        in_quotes(value) + " is no value of the knob rt_throttling",
        "give off, or microseconds up to the period (" + (period ? std::to_string(*period) : "?") + ")");
  }
  return Settings{file_setting(rt_runtime_file, std::to_string(*runtime))};
}

Status timer_migration_available(const KnobContext& context) {
  return file_available(context, timer_migration_file, "this kernel does not migrate timers");
}

Result<Settings> plan_timer_migration(const KnobContext& /*context*/, std::string_view value) {
  const auto on = on_or_off("timer_migration", value);
  if (!on) return on.error();
  return Settings{file_setting(timer_migration_file, *on ? "1" : "0")};
}

Status nmi_watchdog_available(const KnobContext& context) {
  return file_available(context, nmi_watchdog_file, "this kernel has no NMI watchdog");
}

Result<Settings> plan_nmi_watchdog(const KnobContext& /*context*/, std::string_view value) {
  const auto on = on_or_off("nmi_watchdog", value);
  if (!on) return on.error();
  return Settings{file_setting(nmi_watchdog_file, *on ? "1" : "0")};
}

Status thp_available(const KnobContext& context) {
  return file_available(context, thp_file, "this kernel has no transparent huge pages");
}

Result<Settings> plan_thp(const KnobContext& /*context*/, std::string_view value) {
  if (value != "always" && value != "madvise" && value != "never") {
    return usage_error(in_quotes(value) + " is no value of the knob thp", "give always, madvise or never");
  }
  return Settings{file_setting(thp_file, std::string(value), Form::bracketed)};
}

Status workqueues_available(const KnobContext& context) {
  return file_available(context, workqueues_file, "this kernel's unbound work cannot be kept to CPUs");
}

Result<Settings> plan_workqueues(const KnobContext& context, std::string_view value) {
  const auto cpus = away_or_list(context, "workqueue_cpumask", value);
  if (!cpus) return cpus.error();
  return Settings{file_setting(workqueues_file, cpu_mask(*cpus), Form::mask)};
}

Status irq_affinity_available(const KnobContext& context) {
  return file_available(context, default_affinity_file, "interrupts cannot be moved on this kernel");
}

// An interrupt that goes to none of the measuring CPUs is left where it is.
Result<Settings> plan_irq_affinity(const KnobContext& context, std::string_view value) {
  const auto cpus = away_or_list(context, "irq_affinity", value);
  if (!cpus) return cpus.error();
  const Tree tree(context.root);
  Settings out{file_setting(default_affinity_file, cpu_mask(*cpus), Form::mask)};
  for (const int irq : tree.numbered("/proc/irq", "")) {
    const std::string path = "/proc/irq/" + std::to_string(irq) + "/smp_affinity_list";
    const auto text = tree.read_text(path);
    const auto now = parse_cpu_list(text ? *text : "");
    if (!text || !now) continue;  // went meanwhile
    if (std::includes(cpus->begin(), cpus->end(), now->begin(), now->end())) continue;
    Setting setting = file_setting(path, cpu_list_text(*cpus), Form::cpus);
    setting.may_refuse = true;
    out.push_back(std::move(setting));
  }
  return out;
}

}  // namespace

const Knob knob_rt_throttling = {"rt_throttling", "how much of each period real-time tasks may run",
                                 "off | microseconds a period", rt_throttling_available, plan_rt_throttling};
const Knob knob_timer_migration = {"timer_migration", "idle CPUs give their timers to busy ones", "on | off",
                                   timer_migration_available, plan_timer_migration};
const Knob knob_nmi_watchdog = {"nmi_watchdog",
                                "the watchdog for hard lockups: a performance counter's interrupt",
                                "on | off", nmi_watchdog_available, plan_nmi_watchdog};
const Knob knob_thp = {"thp", "transparent huge pages", "always | madvise | never", thp_available, plan_thp};
const Knob knob_workqueue_cpumask = {"workqueue_cpumask", "CPUs for the kernel's unbound work",
                                     "away (from the measuring CPUs) | a list of CPUs", workqueues_available,
                                     plan_workqueues};
const Knob knob_irq_affinity = {
    "irq_affinity", "CPUs for device interrupts, as far as each lets itself be moved",
    "away (from the measuring CPUs) | a list of CPUs", irq_affinity_available, plan_irq_affinity};

}  // namespace howlate
