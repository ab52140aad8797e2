// The handler of a timer of Cobalt's, armed for each release.
#include "timers/cobalt/cobalt_core.hpp"
#include "timers/core_kernel.hpp"

namespace howlate {

extern constinit const Timer timer_cobalt_kernel_timer = kernel_timer<Cobalt, HOWLATE_CORE_HANDLER>(
    "cobalt-kernel-timer", "the handler of a timer of Cobalt's, by the module howlate_cobalt");

}  // namespace howlate
