// Automatic NUMA balancing.
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_numa_balancing;
const Knob knob_numa_balancing = {
    .name = "numa_balancing",
    .summary = "the kernel unmaps pages to see which CPU uses them",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/proc/sys/kernel/numa_balancing",
    .without = "this kernel does not balance",
    .fact = "sched.numa_balancing",
};

}  // namespace howlate
