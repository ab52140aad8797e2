// How much of each period real-time tasks may run.
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  if (value == "off") return own_file(knob, "-1");
  const auto runtime = to_integer(value);
  const auto period = Root(context.root).read_integer("/proc/sys/kernel/sched_rt_period_us");
  if (!runtime || *runtime < 0 || (period && *runtime > *period))
    return no_value(
        knob, value,
        "give off, or microseconds up to the period (" + (period ? std::to_string(*period) : "?") + ")");
  return own_file(knob, std::to_string(*runtime));
}

}  // namespace

extern const Knob knob_rt_throttling;
const Knob knob_rt_throttling = {
    .name = "rt_throttling",
    .summary = "the time that real-time tasks may run in each period",
    .values = "off | microseconds a period",
    .plan = plan,
    .file = "/proc/sys/kernel/sched_rt_runtime_us",
    .without = "this kernel does not throttle real-time tasks",
    .fact = "sched.rt_runtime_us",
};

}  // namespace howlate
