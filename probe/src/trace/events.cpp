#include "trace/events.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

// "irq!=11&&irq!=12"; empty: none is left out.
std::string without_own_timers(const Root& root) {
  std::vector<std::string> terms;
  for (const std::int32_t irq : own_timer_irqs(root)) terms.push_back("irq!=" + std::to_string(irq));
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

void add_vectors(const std::string& tracing, ExplainEvents detail, EventPlan& plan) {
  const std::size_t before = plan.events.size();
  for (const std::string& name : Root().list(tracing + "/events/" + std::string(irq_vectors)))
    if (is_wanted_vector(name, detail))
      if (auto event = read_event(tracing, {irq_vectors, name, {"vector"}}))
        plan.events.push_back(std::move(*event));
  if (plan.events.size() == before) plan.absent.emplace_back(irq_vectors);
}

// "pid==4711||pid==4712".
std::string any_of_pids(std::string_view field, std::span<const pid_t> ours) {
  std::vector<std::string> terms;
  for (const pid_t tid : ours) terms.push_back(std::string(field) + "==" + std::to_string(tid));
  return join(terms, "||");
}

std::string filter_of(const TracedEvent& event, const EventPlan& plan, std::span<const pid_t> ours) {
  if (event.whose != EventTask::anybody)
    return any_of_pids(event.whose == EventTask::ours ? "pid" : "common_pid", ours);
  return event.name.starts_with("irq_handler_") ? plan.irq_filter : "";
}

}  // namespace

Result<EventPlan> plan_events(const std::string& tracing, ExplainEvents detail, const Root& root) {
  EventPlan plan;
  if (detail != ExplainEvents::all) plan.irq_filter = without_own_timers(root);
  const auto page = read_text(tracing + "/events/header_page");
  const auto layout = page ? parse_page_layout(*page) : std::nullopt;
  if (!layout) return not_possible("this kernel's tracing does not describe its pages (events/header_page)");
  plan.layout = *layout;
  for (const EventSpec& spec : event_specs()) {
    if (spec.from == ExplainEvents::all && detail != ExplainEvents::all) continue;
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
