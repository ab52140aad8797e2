// epoll_pwait2() on an empty set: its time-out is relative, in nanoseconds (epoll_wait's is in milliseconds).
// From Linux 5.11; before that, epoll_timerfd is what an event loop has.
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

#ifdef SYS_epoll_pwait2
constexpr long sys_epoll_pwait2 = SYS_epoll_pwait2;
#else
constexpr long sys_epoll_pwait2 = 441;  // the same on every architecture but alpha
#endif

long poll_for(int epoll_fd, std::int64_t duration_ns) {
  const KernelTimespec left = kernel_timespec(duration_ns);
  struct epoll_event event;
  return syscall(sys_epoll_pwait2, epoll_fd, &event, 1, &left, nullptr, 0);
}

struct EpollPwait2 : InterruptibleSleep {
  explicit EpollPwait2(int events) : fd(events) {}
  int fd;

  std::int64_t wait(std::int64_t release_ns) {
    const std::int64_t before_ns = now();
    if (before_ns >= release_ns) return before_ns;
    check(poll_for(fd, release_ns - before_ns));
    return now();
  }
};

Status available() {
  const Fd events(epoll_create1(EPOLL_CLOEXEC));
  if (events.valid() && poll_for(events.get(), 0) == 0) return {};
  if (errno == ENOSYS)
    return not_possible("this kernel has no epoll_pwait2() (Linux has it from 5.11)",
                        "choose the timer epoll_timerfd");
  return not_possible("epoll_pwait2() does not work here: " + errno_text(errno),
                      "choose the timer epoll_timerfd");
}

Status run(LoopContext& loop) {
  const Fd events(epoll_create1(EPOLL_CLOEXEC));
  if (!events.valid()) return broken("epoll_create1() failed: " + errno_text(errno));
  EpollPwait2 sleep(events.get());
  measure(loop, sleep);
  return outcome(sleep, "epoll_pwait2()");
}

constexpr Need config[] = {{"EPOLL"}};

}  // namespace

extern const Timer timer_epoll_pwait2 = {
    .name = "epoll_pwait2",
    .summary = "epoll_pwait2() on an empty set, with the time left as time-out",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
    .config = config,
};

}  // namespace howlate
