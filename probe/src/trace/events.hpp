// The events of the kernel that tell what delays a task, as far as this kernel has them. docs/explain.md gives the reason for each.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/trace_format.hpp"
#include "core/trace_page.hpp"
#include "sys/root.hpp"
#include "sys/trace_instance.hpp"
#include "trace/event_spec.hpp"
#include "trace/options.hpp"

namespace howlate {

struct TracedEvent {
  std::string system, name;
  EventTask whose = EventTask::anybody;
  TraceFormat format;
  std::array<std::optional<TraceField>, 4> values;  // of the columns a to d

  [[nodiscard]] std::string file(std::string_view what) const {
    return "events/" + system + '/' + name + '/' + std::string(what);
  }
};

// Numbered as the table trace_events numbers them; behind them come `kernel_stack` and `lost`.
struct EventPlan {
  std::vector<TracedEvent> events;
  std::vector<std::string> absent;
  PageLayout layout;
  TracedEvent stack;       // kernel_stack
  std::string irq_filter;  // of interrupts' entries and exits: without those of the CPUs' own timers

  [[nodiscard]] std::size_t stack_number() const { return events.size(); }
  [[nodiscard]] std::size_t lost_number() const { return events.size() + 1; }
};

// From the folder of the kernel's tracing.
Result<EventPlan> plan_events(const std::string& tracing, ExplainEvents detail, const Root& root);
// Sets filters for the measuring threads, and switches the events on.
Status enable_events(const TraceInstance& instance, const EventPlan& plan, std::span<const pid_t> ours);
// A stack at each interrupt of the timer: which function had been interrupted.
Status enable_stacks(const TraceInstance& instance, const EventPlan& plan);

}  // namespace howlate
