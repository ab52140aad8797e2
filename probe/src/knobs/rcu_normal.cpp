// Whether expedited grace periods of RCU, which interrupt every CPU, are made normal ones (kernel/rcu/update.c).
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_rcu_normal;
const Knob knob_rcu_normal = {
    .name = "rcu_normal",
    .summary = "RCU's grace periods do without interrupts to other CPUs",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/sys/kernel/rcu_normal",
    .without = "this kernel does not offer it",
    .fact = "sched.rcu_normal",
};

}  // namespace howlate
