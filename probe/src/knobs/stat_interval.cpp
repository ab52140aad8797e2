// How often vmstat's worker runs on each CPU (mm/vmstat.c).
#include "knobs/base/plan.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  return plan_number(knob, value, {1, 86400}, "seconds from 1 to 86400");
}

}  // namespace

extern const Knob knob_stat_interval;
const Knob knob_stat_interval = {
    .name = "stat_interval",
    .summary = "how often each CPU's memory counters are collected by a worker on it",
    .values = "seconds",
    .plan = plan,
    .file = "/proc/sys/vm/stat_interval",
    .without = "this kernel has no such interval",
    .fact = "memory.stat_interval_s",
};

}  // namespace howlate
