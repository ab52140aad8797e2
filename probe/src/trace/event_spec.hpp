// Which events are recorded, whichever way they are. docs/explain.md gives the reason for each.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sys/root.hpp"
#include "trace/options.hpp"

namespace howlate {

// Of whom an event is recorded.
enum class EventTask {
  anybody,
  ours,        // its field pid is a measuring thread
  while_ours,  // it comes while a measuring thread runs
};

struct EventSpec {
  std::string_view system, name;
  std::array<std::string_view, 4> values;
  EventTask whose = EventTask::anybody;
  ExplainEvents from = ExplainEvents::few;  // comes in every wake-up: only with `all`
};

std::span<const EventSpec> event_specs();

// x86: all of its NAME_entry and NAME_exit are recorded.
inline constexpr std::string_view irq_vectors = "irq_vectors";
// The timer's own come in every wake-up; the expiry tells when they began.
bool is_wanted_vector(std::string_view name, ExplainEvents detail);

// The numbers of interrupts that are the CPUs' own timers, which come in every wake-up too.
std::vector<std::int32_t> own_timer_irqs(const Root& root);
// Whether the CPUs' timers interrupt by a vector that has no event, though the kernel has events for others: Hyper-V's do.
bool timer_has_no_event(const Root& root);

}  // namespace howlate
