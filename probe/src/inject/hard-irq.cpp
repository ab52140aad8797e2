// A timer's handler that runs for long in hard-interrupt context.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_hard_irq;
const Injection injection_hard_irq =
    in_kernel<HOWLATE_INJECT_HARD_IRQ>("hard-irq", "a long interrupt handler, also under PREEMPT_RT");

}  // namespace howlate
