// Cobalt's clock_nanosleep() with an absolute time.
#include <time.h>

#include "timers/cobalt/cobalt_core.hpp"
#include "timers/core_sleep.hpp"

namespace howlate {

namespace {

struct CobaltNanosleep : CoreSleep<Cobalt> {
  using CoreSleep::CoreSleep;
  static constexpr std::string_view calls = "Cobalt's clock_nanosleep()";

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    const struct timespec until = timespec_of(release_ns);
    woken(__RT(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr)), release_ns);
    return now();
  }
};

}  // namespace

extern constinit const Timer timer_cobalt =
    core_timer<CobaltNanosleep>("cobalt", "Cobalt's clock_nanosleep() until an absolute time");

}  // namespace howlate
