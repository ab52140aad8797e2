#include "trace/event_spec.hpp"

#include <algorithm>
#include <optional>

#include "sys/interrupts.hpp"

namespace howlate {

namespace {

constexpr EventSpec wanted[] = {
    {"sched", "sched_switch", {"prev_state", "prev_prio", "next_pid", "next_prio"}},
    {"sched", "sched_waking", {"pid", "prio", "target_cpu"}},
    {"sched", "sched_migrate_task", {"pid", "prio", "orig_cpu", "dest_cpu"}, EventTask::ours},
    {"irq", "irq_handler_entry", {"irq"}},
    {"irq", "irq_handler_exit", {"irq", "ret"}},
    {"irq", "softirq_entry", {"vec"}},
    {"irq", "softirq_exit", {"vec"}},
    {"ipi", "ipi_entry", {"reason"}},
    {"ipi", "ipi_exit", {"reason"}},
    {"timer", "hrtimer_expire_entry", {"hrtimer", "now", "function"}},
    {"timer", "hrtimer_expire_exit", {"hrtimer"}, EventTask::anybody, ExplainEvents::all},
    {"power", "cpu_idle", {"state", "cpu_id"}, EventTask::anybody, ExplainEvents::all},
    {"exceptions", "page_fault_user", {"address", "ip", "error_code"}, EventTask::while_ours},
    {"exceptions", "page_fault_kernel", {"address", "ip", "error_code"}, EventTask::while_ours},
    {"nmi", "nmi_handler", {"handler", "delta_ns", "handled"}},
};
constexpr std::string_view timer_vector = "local_timer_";

// The CPUs' own timers where their interrupts are ordinary ones.
constexpr std::string_view own_timers[] = {"arch_timer", "riscv-timer"};

// Of a line of /proc/interrupts: " 11:   4711   815  GICv3  27 Level  arch_timer".
std::optional<std::int64_t> own_timer_in(std::string_view line) {
  const auto words = parts_of(line, ' ');
  if (words.empty() || !words.front().ends_with(':')) return std::nullopt;
  if (std::find(std::begin(own_timers), std::end(own_timers), words.back()) == std::end(own_timers))
    return std::nullopt;
  const auto irq = to_integer(std::string_view(words.front()).substr(0, words.front().size() - 1));
  return irq ? std::optional(*irq) : std::nullopt;
}

}  // namespace

std::span<const EventSpec> event_specs() {
  return wanted;
}

bool is_wanted_vector(std::string_view name, ExplainEvents detail) {
  if (name.starts_with(timer_vector) && detail != ExplainEvents::all) return false;
  return name.ends_with("_entry") || name.ends_with("_exit");
}

std::vector<std::int32_t> own_timer_irqs(const Root& root) {
  std::vector<std::int32_t> irqs;
  const auto text = root.read("/proc/interrupts");
  for (const std::string& line : parts_of(text ? *text : std::string(), '\n'))
    if (const auto irq = own_timer_in(line)) irqs.push_back(static_cast<std::int32_t>(*irq));
  return irqs;
}

bool timer_has_no_event(const Root& root) {
  const auto lines = read_interrupts(root);
  return lines && std::any_of(lines->begin(), lines->end(), [](const InterruptLine& line) {
           return line.label == "HVS" && !line.counts.empty();
         });
}

}  // namespace howlate
