// A kernel thread of EVL's that sleeps until each release.
#include "timers/core_kernel.hpp"
#include "timers/evl/evl_core.hpp"

namespace howlate {

extern constinit const Timer timer_evl_kernel_thread = kernel_timer<Evl, HOWLATE_CORE_THREAD>(
    "evl-kernel-thread", "a kernel thread of EVL's, by the module howlate_evl");

}  // namespace howlate
