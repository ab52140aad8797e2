// Whether idle CPUs give their timers to busy ones.
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_timer_migration;
const Knob knob_timer_migration = {
    .name = "timer_migration",
    .summary = "idle CPUs give their timers to busy ones",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/proc/sys/kernel/timer_migration",
    .without = "this kernel does not migrate timers",
    .fact = "sched.timer_migration",
};

}  // namespace howlate
