// evl_sleep_until().

#include "timers/core_sleep.hpp"
#include "timers/evl/evl_core.hpp"
#include "timers/evl/library.hpp"

namespace howlate {

namespace {

struct EvlSleep : CoreSleep<Evl> {
  using CoreSleep::CoreSleep;
  static constexpr std::string_view calls = "evl_sleep_until()";

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    const struct timespec until = timespec_of(release_ns);
    woken(-evl_sleep_until(EVL_CLOCK_MONOTONIC, &until), release_ns);
    return now();
  }
};

}  // namespace

extern constinit const Timer timer_evl_sleep = core_timer<EvlSleep>("evl-sleep", "evl_sleep_until()");

}  // namespace howlate
