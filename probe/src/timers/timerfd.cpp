// A timerfd, armed with an absolute time for each activation, and a blocking read().
#include <unistd.h>

#include "timers/sleep.hpp"
#include "timers/timer_descriptor.hpp"

namespace howlate {

namespace {

struct TimerfdRead : InterruptibleSleep {
  explicit TimerfdRead(int timer) : fd(timer) {}
  int fd;

  std::int64_t wait(std::int64_t release_ns) {
    check(arm_timer_descriptor(fd, release_ns));
    std::uint64_t expiries = 0;
    check(read(fd, &expiries, sizeof expiries));
    return now();
  }
};

Status available() {
  const auto timer = open_timer_descriptor();
  return timer ? Status() : Status(timer.error());
}

Status run(LoopContext& loop) {
  const auto timer = open_timer_descriptor();
  if (!timer) return timer.error();
  TimerfdRead sleep(timer->get());
  measure(loop, sleep);
  return outcome(sleep, "timerfd_settime() or read()");
}

constexpr Need config[] = {{"TIMERFD"}};

}  // namespace

extern const Timer timer_timerfd = {
    .name = "timerfd",
    .summary = "timerfd_settime() with an absolute time, and a blocking read()",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
    .config = config,
};

}  // namespace howlate
