// epoll on a timerfd that is armed with an absolute time for each activation: how event loops sleep.
#include <sys/epoll.h>

#include "timers/sleep.hpp"
#include "timers/timer_descriptor.hpp"

namespace howlate {

namespace {

struct EpollTimerfd : InterruptibleSleep {
  EpollTimerfd(int timer, int events) : timer_fd(timer), epoll_fd(events) {}
  int timer_fd;
  int epoll_fd;

  std::int64_t wait(std::int64_t release_ns) {
    check(arm_timer_descriptor(timer_fd, release_ns));
    struct epoll_event event;
    check(epoll_pwait(epoll_fd, &event, 1, -1, nullptr));
    return now();
  }
};

Result<Fd> watch(int timer) {
  Fd events(epoll_create1(EPOLL_CLOEXEC));
  struct epoll_event readable = {};
  readable.events = EPOLLIN;
  if (events.valid() && epoll_ctl(events.get(), EPOLL_CTL_ADD, timer, &readable) == 0) return events;
  return not_possible("this kernel gives no epoll on a timerfd: " + errno_text(errno),
                      "choose another timer");
}

Status run_on(int timer, LoopContext& loop) {
  const auto events = watch(timer);
  if (!events) return events.error();
  EpollTimerfd sleep(timer, events->get());
  measure(loop, sleep);
  return outcome(sleep, "timerfd_settime() or epoll_pwait()");
}

Status available() {
  const auto timer = open_timer_descriptor();
  if (!timer) return timer.error();
  const auto events = watch(timer->get());
  return events ? Status() : Status(events.error());
}

Status run(LoopContext& loop) {
  const auto timer = open_timer_descriptor();
  return timer ? run_on(timer->get(), loop) : Status(timer.error());
}

constexpr Need config[] = {{"TIMERFD"}, {"EPOLL"}};

}  // namespace

extern const Timer timer_epoll_timerfd = {
    .name = "epoll_timerfd",
    .summary = "epoll_pwait() on a timerfd that is armed with an absolute time",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
    .config = config,
};

}  // namespace howlate
