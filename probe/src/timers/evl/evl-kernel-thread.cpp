// A kernel thread of EVL's that sleeps until each release.
#include "timers/core_kernel.hpp"
#include "timers/evl/thread.hpp"

namespace howlate {

namespace {

Status run(LoopContext& loop) {
  return run_in_kernel(loop, {Evl::name, HOWLATE_EVL_DEVICE, HOWLATE_CORE_THREAD});
}

}  // namespace

extern const Timer timer_evl_kernel_thread = {
    .name = "evl-kernel-thread",
    .summary = "a kernel thread of EVL's, by the module howlate_evl",
    .armed_each_activation = true,
    .as_published = false,
    .available = Evl::present,
    .run = run,
    .core = Evl::name,
    .in_kernel = true,
    .module = HOWLATE_EVL_MODULE,
};

}  // namespace howlate
