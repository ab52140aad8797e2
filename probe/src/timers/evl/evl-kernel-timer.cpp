// The handler of a timer of EVL's, armed for each release.
#include "timers/core_kernel.hpp"
#include "timers/evl/evl_core.hpp"

namespace howlate {

extern constinit const Timer timer_evl_kernel_timer = kernel_timer<Evl, HOWLATE_CORE_HANDLER>(
    "evl-kernel-timer", "the handler of a timer of EVL's, by the module howlate_evl");

}  // namespace howlate
