// evl_sleep_until().

#include "timers/core_sleep.hpp"
#include "timers/evl/library.hpp"
#include "timers/evl/thread.hpp"

namespace howlate {

namespace {

struct EvlSleep : CoreSleep<Evl> {
  using CoreSleep::CoreSleep;

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    const struct timespec until = timespec_of(release_ns);
    woken(-evl_sleep_until(EVL_CLOCK_MONOTONIC, &until), release_ns);
    return now();
  }
};

Status run(LoopContext& loop) {
  if (Status attached = Evl::attach(); !attached) return attached;
  note_gravity(loop, Evl::name, &Gravity::user_ns);
  EvlSleep sleep(loop);
  measure(loop, sleep);
  sleep.settle();
  return outcome(sleep, "evl_sleep_until()");
}

}  // namespace

extern const Timer timer_evl_sleep = {
    .name = "evl-sleep",
    .summary = "evl_sleep_until()",
    .armed_each_activation = true,
    .as_published = false,
    .available = Evl::available,
    .run = run,
    .core = Evl::name,
    .attach = Evl::attach,
};

}  // namespace howlate
