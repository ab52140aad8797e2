// An EVL timer, armed with an absolute time for each activation, and oob_read().
#include <unistd.h>

#include "timers/core_sleep.hpp"
#include "timers/evl/library.hpp"
#include "timers/evl/thread.hpp"

namespace howlate {

namespace {

struct EvlTimer : CoreSleep<Evl> {
  EvlTimer(LoopContext& loop, int timer) : CoreSleep(loop), fd(timer) {}
  int fd;

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    struct itimerspec once {};
    once.it_value = timespec_of(release_ns);
    int failed = -evl_set_timer(fd, &once, nullptr);
    std::uint64_t expiries = 0;
    if (failed == 0 && oob_read(fd, &expiries, sizeof expiries) != sizeof expiries) failed = errno;
    woken(failed, release_ns);
    return now();
  }
};

Status run(LoopContext& loop) {
  if (Status attached = Evl::attach(); !attached) return attached;
  note_gravity(loop, Evl::name, &Gravity::user_ns);
  const int timer = evl_new_timer(EVL_CLOCK_MONOTONIC);
  if (timer < 0) return not_possible("EVL gives no timer: " + errno_text(-timer));
  EvlTimer sleep(loop, timer);
  measure(loop, sleep);
  sleep.settle();
  ::close(timer);
  return outcome(sleep, "evl_set_timer() or oob_read()");
}

}  // namespace

extern const Timer timer_evl = {
    .name = "evl",
    .summary = "evl_set_timer() with an absolute time, and oob_read()",
    .armed_each_activation = true,
    .as_published = false,
    .available = Evl::available,
    .run = run,
    .core = Evl::name,
    .attach = Evl::attach,
};

}  // namespace howlate
