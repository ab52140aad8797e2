#include "trace/events.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

struct EventSpec {
  std::string_view system, name;
  std::array<std::string_view, 4> values;
  Whose whose = Whose::anybody;
  ExplainEvents from = ExplainEvents::few;  // comes in every wake-up: only with `all`
};

constexpr EventSpec wanted[] = {
    {"sched", "sched_switch", {"prev_state", "prev_prio", "next_pid", "next_prio"}},
    {"sched", "sched_waking", {"pid", "prio", "target_cpu"}},
    {"sched", "sched_migrate_task", {"pid", "prio", "orig_cpu", "dest_cpu"}, Whose::ours},
    {"irq", "irq_handler_entry", {"irq"}},
    {"irq", "irq_handler_exit", {"irq", "ret"}},
    {"irq", "softirq_entry", {"vec"}},
    {"irq", "softirq_exit", {"vec"}},
    {"ipi", "ipi_entry", {"reason"}},
    {"ipi", "ipi_exit", {"reason"}},
    {"timer", "hrtimer_expire_entry", {"hrtimer", "now", "function"}},
    {"timer", "hrtimer_expire_exit", {"hrtimer"}, Whose::anybody, ExplainEvents::all},
    {"power", "cpu_idle", {"state", "cpu_id"}, Whose::anybody, ExplainEvents::all},
    {"exceptions", "page_fault_user", {"address", "ip", "error_code"}, Whose::while_ours},
    {"exceptions", "page_fault_kernel", {"address", "ip", "error_code"}, Whose::while_ours},
    {"nmi", "nmi_handler", {"handler", "delta_ns", "handled"}},
};
// All of its NAME_entry and NAME_exit; x86 has them. The timer's own come in every wake-up; the expiry tells when they began.
constexpr std::string_view vectors = "irq_vectors";
constexpr std::string_view timer_vector = "local_timer_";

// The CPUs' own timers where their interrupts are ordinary ones, which come in every wake-up too.
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

// "irq!=11&&irq!=12"; empty: none is left out.
std::string without_own_timers(const Root& root) {
  std::vector<std::string> terms;
  const auto text = root.read("/proc/interrupts");
  for (const std::string& line : parts_of(text ? *text : std::string(), '\n'))
    if (const auto irq = own_timer_in(line)) terms.push_back("irq!=" + std::to_string(*irq));
  return join(terms, "&&");
}

std::optional<TracedEvent> read_event(const std::string& tracing, const EventSpec& spec) {
  TracedEvent event{std::string(spec.system), std::string(spec.name), spec.whose, {}, {}};
  const auto text = read_text(tracing + '/' + event.file("format"));
  auto format = text ? parse_trace_format(*text) : std::nullopt;
  if (!format) return std::nullopt;
  event.format = std::move(*format);
  for (std::size_t i = 0; i < spec.values.size(); ++i)
    if (const TraceField* const field = find_field(event.format.fields, spec.values[i]))
      event.values[i] = *field;
  return event;
}

bool is_wanted_handler(std::string_view name, ExplainEvents detail) {
  if (name.starts_with(timer_vector) && detail == ExplainEvents::few) return false;
  return name.ends_with("_entry") || name.ends_with("_exit");
}

void add_vectors(const std::string& tracing, ExplainEvents detail, EventPlan& plan) {
  const std::size_t before = plan.events.size();
  for (const std::string& name : Root().list(tracing + "/events/" + std::string(vectors)))
    if (is_wanted_handler(name, detail))
      if (auto event = read_event(tracing, {vectors, name, {"vector"}}))
        plan.events.push_back(std::move(*event));
  if (plan.events.size() == before) plan.absent.emplace_back(vectors);
}

// "pid==4711||pid==4712".
std::string any_of_pids(std::string_view field, std::span<const pid_t> ours) {
  std::vector<std::string> terms;
  for (const pid_t tid : ours) terms.push_back(std::string(field) + "==" + std::to_string(tid));
  return join(terms, "||");
}

std::string filter_of(const TracedEvent& event, const EventPlan& plan, std::span<const pid_t> ours) {
  if (event.whose != Whose::anybody)
    return any_of_pids(event.whose == Whose::ours ? "pid" : "common_pid", ours);
  return event.name.starts_with("irq_handler_") ? plan.irq_filter : "";
}

}  // namespace

Result<EventPlan> plan_events(const std::string& tracing, ExplainEvents detail, const Root& root) {
  EventPlan plan;
  if (detail == ExplainEvents::few) plan.irq_filter = without_own_timers(root);
  const auto page = read_text(tracing + "/events/header_page");
  const auto layout = page ? parse_page_layout(*page) : std::nullopt;
  if (!layout) return not_possible("this kernel's tracing does not describe its pages (events/header_page)");
  plan.layout = *layout;
  for (const EventSpec& spec : wanted) {
    if (spec.from == ExplainEvents::all && detail == ExplainEvents::few) continue;
    auto event = read_event(tracing, spec);
    if (event)
      plan.events.push_back(std::move(*event));
    else
      plan.absent.emplace_back(spec.name);
  }
  add_vectors(tracing, detail, plan);
  if (auto stack = read_event(tracing, {"ftrace", "kernel_stack", {"size", "caller"}}))
    plan.stack = std::move(*stack);
  const auto is_switch = [](const TracedEvent& event) { return event.name == "sched_switch"; };
  if (std::none_of(plan.events.begin(), plan.events.end(), is_switch))
    return not_possible("this kernel's tracing has no event sched_switch",
                        "It has to be built with CONFIG_EVENT_TRACING (CONFIG_FTRACE)");
  return plan;
}

Status enable_events(const TraceInstance& instance, const EventPlan& plan, std::span<const pid_t> ours) {
  for (const TracedEvent& event : plan.events) {
    const std::string filter = filter_of(event, plan, ours);
    if (!filter.empty())
      if (const Status set = instance.set(event.file("filter"), filter); !set) return set;
    if (const Status on = instance.set(event.file("enable"), "1"); !on) return on;
  }
  return {};
}

Status enable_stacks(const TraceInstance& instance, const EventPlan& plan) {
  for (const std::string_view name : {"local_timer_entry", "hrtimer_expire_entry"})
    for (const TracedEvent& event : plan.events)
      if (event.name == name) return instance.set(event.file("trigger"), "stacktrace");
  return not_possible("this kernel has no event at which a stack of the timer's interrupt could be taken");
}

}  // namespace howlate
