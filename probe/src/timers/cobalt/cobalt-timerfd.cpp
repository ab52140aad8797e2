// A timerfd of Cobalt's, armed with an absolute time for each activation, and its blocking read().
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "timers/cobalt/thread.hpp"
#include "timers/core_sleep.hpp"

namespace howlate {

namespace {

struct CobaltTimerfd : CoreSleep<Cobalt> {
  CobaltTimerfd(LoopContext& loop, int timer) : CoreSleep(loop), fd(timer) {}
  int fd;

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    struct itimerspec once {};
    once.it_value = timespec_of(release_ns);
    std::uint64_t expiries = 0;
    const bool slept = __RT(timerfd_settime(fd, TFD_TIMER_ABSTIME, &once, nullptr)) == 0 &&
                       __RT(read(fd, &expiries, sizeof expiries)) == sizeof expiries;
    woken(slept ? 0 : errno, release_ns);
    return now();
  }
};

Status run(LoopContext& loop) {
  if (Status attached = Cobalt::attach(); !attached) return attached;
  note_gravity(loop, Cobalt::name, &Gravity::user_ns);
  const int timer = __RT(timerfd_create(CLOCK_MONOTONIC, 0));
  if (timer < 0) return not_possible("Cobalt gives no timerfd: " + errno_text(errno));
  CobaltTimerfd sleep(loop, timer);
  measure(loop, sleep);
  sleep.settle();
  __RT(close(timer));
  return outcome(sleep, "Cobalt's timerfd_settime() or read()");
}

}  // namespace

extern const Timer timer_cobalt_timerfd = {
    .name = "cobalt-timerfd",
    .summary = "Cobalt's timerfd_settime() with an absolute time, and its blocking read()",
    .armed_each_activation = true,
    .as_published = false,
    .available = Cobalt::available,
    .run = run,
    .core = Cobalt::name,
    .attach = Cobalt::attach,
};

}  // namespace howlate
