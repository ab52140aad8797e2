// Interrupts between CPUs, each of 10 us, the next of which is under way before one returns.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_ipi_storm;
const Injection injection_ipi_storm = in_kernel<HOWLATE_INJECT_IPI_STORM>(
    "ipi-storm", "interrupts from another CPU without a pause; from itself on a machine of one");

}  // namespace howlate
