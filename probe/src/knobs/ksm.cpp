// Kernel samepage merging. Off stops the thread; pages that are merged stay so.
#include "knobs/base/plan.hpp"

namespace howlate {

extern const Knob knob_ksm;
const Knob knob_ksm = {
    .name = "ksm",
    .summary = "a kernel thread merges equal pages",
    .values = "on | off",
    .plan = plan_on_or_off,
    .file = "/sys/kernel/mm/ksm/run",
    .without = "this kernel has no KSM",
    .fact = "memory.ksm",
};

}  // namespace howlate
