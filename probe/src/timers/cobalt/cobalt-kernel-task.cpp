// A kernel thread of Cobalt's that sleeps until each release.
#include "timers/cobalt/cobalt_core.hpp"
#include "timers/core_kernel.hpp"

namespace howlate {

extern constinit const Timer timer_cobalt_kernel_task = kernel_timer<Cobalt, HOWLATE_CORE_THREAD>(
    "cobalt-kernel-task", "a kernel thread of Cobalt's, by the module howlate_cobalt");

}  // namespace howlate
