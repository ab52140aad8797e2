// Interrupts turned off by a kernel thread of the lowest real-time priority.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_irqs_off;
const Injection injection_irqs_off =
    in_kernel<HOWLATE_INJECT_IRQS_OFF>("irqs-off", "a kernel thread turns interrupts off");

}  // namespace howlate
