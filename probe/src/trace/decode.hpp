// From kept pages to the rows of the tables trace_cases and trace_events (docs/stream.md). Pure, and done after the cell.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/events.hpp"
#include "trace/watch.hpp"

namespace howlate {

struct EventRow {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  int cpu = 0;
  std::size_t event = 0;
  std::int64_t flags = 0, preempt = 0, pid = 0;
  std::array<std::int64_t, 4> values{};
};

struct Decoded {
  std::vector<Case> cases;           // by their release; from and to are what was kept
  std::vector<std::int64_t> events;  // of each case
  std::vector<EventRow> rows;        // by CPU, then time
  std::map<std::int64_t, std::string> tasks, irqs;
  std::set<std::int64_t> addresses;  // of functions
  std::set<std::int64_t> reasons;    // of IPIs: addresses of their texts, until name_reasons() numbers them
  std::int64_t events_lost = 0;      // within the cases' stretches, as far as the kernel counted them
};

Decoded decode(const TraceWatch& watch, const EventPlan& plan);
// Numbers the IPIs' texts in the order of `reasons`.
void number_reasons(Decoded& decoded, const EventPlan& plan);

}  // namespace howlate
