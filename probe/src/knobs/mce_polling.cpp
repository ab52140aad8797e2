// How often a timer on each CPU reads the banks of machine checks. One value for all CPUs, whichever CPU's file it is written to.
#include "knobs/base/plan.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  return plan_number(knob, value, {0, 86400}, "seconds up to 86400, 0 for never");
}

}  // namespace

extern const Knob knob_mce_polling;
const Knob knob_mce_polling = {
    .name = "mce_polling",
    .summary = "how often each CPU looks for corrected machine errors",
    .values = "seconds | 0 (never)",
    .plan = plan,
    .file = "/sys/devices/system/machinecheck/machinecheck0/check_interval",
    .without = "this machine is not polled for corrected errors",
    .fact = "mce.check_interval_s",
    .fact_kind = FactKind::text,
};

}  // namespace howlate
