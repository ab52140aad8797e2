// Preemption turned off, with interrupts on, by a kernel thread of the lowest real-time priority.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_preempt_off;
const Injection injection_preempt_off =
    in_kernel<HOWLATE_INJECT_PREEMPT_OFF>("preempt-off", "a kernel thread turns preemption off");

}  // namespace howlate
