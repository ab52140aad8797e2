// The watchdog for hard lockups.
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_nmi_watchdog;
const Knob knob_nmi_watchdog = {
    .name = "nmi_watchdog",
    .summary = "the watchdog for hard lockups: a performance counter's interrupt",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/proc/sys/kernel/nmi_watchdog",
    .without = "this kernel has no NMI watchdog",
    .fact = "watchdog.nmi",
};

}  // namespace howlate
