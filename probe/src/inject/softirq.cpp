// A tasklet that runs for long. PREEMPT_RT runs it in a thread that a real-time task preempts.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_softirq;
const Injection injection_softirq =
    in_kernel<HOWLATE_INJECT_SOFTIRQ>("softirq", "a long softirq (a tasklet)");

}  // namespace howlate
