// A kernel thread of Cobalt's that sleeps until each release, as the task of toshiba-2010 did.
#include "timers/cobalt/thread.hpp"
#include "timers/core_kernel.hpp"

namespace howlate {

namespace {

Status run(LoopContext& loop) {
  return run_in_kernel(loop, {Cobalt::name, HOWLATE_COBALT_DEVICE, HOWLATE_CORE_THREAD});
}

}  // namespace

extern const Timer timer_cobalt_kernel_task = {
    .name = "cobalt-kernel-task",
    .summary = "a kernel thread of Cobalt's, by the module howlate_cobalt",
    .armed_each_activation = true,
    .as_published = false,
    .available = Cobalt::present,
    .run = run,
    .core = Cobalt::name,
    .in_kernel = true,
    .module = HOWLATE_COBALT_MODULE,
};

}  // namespace howlate
