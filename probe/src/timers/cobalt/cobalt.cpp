// Cobalt's clock_nanosleep() with an absolute time.
#include <time.h>

#include "timers/cobalt/thread.hpp"
#include "timers/core_sleep.hpp"

namespace howlate {

namespace {

struct CobaltNanosleep : CoreSleep<Cobalt> {
  using CoreSleep::CoreSleep;

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    const struct timespec until = timespec_of(release_ns);
    woken(__RT(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr)), release_ns);
    return now();
  }
};

Status run(LoopContext& loop) {
  if (Status attached = Cobalt::attach(); !attached) return attached;
  note_gravity(loop, Cobalt::name, &Gravity::user_ns);
  CobaltNanosleep sleep(loop);
  measure(loop, sleep);
  sleep.settle();
  return outcome(sleep, "Cobalt's clock_nanosleep()");
}

}  // namespace

extern const Timer timer_cobalt = {
    .name = "cobalt",
    .summary = "Cobalt's clock_nanosleep() until an absolute time",
    .armed_each_activation = true,
    .as_published = false,
    .available = Cobalt::available,
    .run = run,
    .core = Cobalt::name,
    .attach = Cobalt::attach,
};

}  // namespace howlate
