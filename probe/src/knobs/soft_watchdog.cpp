// The watchdog for soft lockups.
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_soft_watchdog;
const Knob knob_soft_watchdog = {
    .name = "soft_watchdog",
    .summary =
        "the watchdog for soft lockups: a timer of each CPU, and a thread above every real-time priority",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/proc/sys/kernel/soft_watchdog",
    .without = "this kernel has no soft watchdog",
    .fact = "watchdog.soft",
};

}  // namespace howlate
