// The handler of a timer of EVL's, armed for each release.
#include "timers/core_kernel.hpp"
#include "timers/evl/thread.hpp"

namespace howlate {

namespace {

Status run(LoopContext& loop) {
  return run_in_kernel(loop, {Evl::name, HOWLATE_EVL_DEVICE, HOWLATE_CORE_HANDLER});
}

}  // namespace

extern const Timer timer_evl_kernel_timer = {
    .name = "evl-kernel-timer",
    .summary = "the handler of a timer of EVL's, by the module howlate_evl",
    .armed_each_activation = true,
    .as_published = false,
    .available = Evl::present,
    .run = run,
    .core = Evl::name,
    .in_kernel = true,
    .module = HOWLATE_EVL_MODULE,
};

}  // namespace howlate
