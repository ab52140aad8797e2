// ppoll() without descriptors: its time-out is relative, in nanoseconds.
#include <sys/syscall.h>
#include <unistd.h>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

#ifdef SYS_ppoll_time64
constexpr long sys_ppoll = SYS_ppoll_time64;
#else
constexpr long sys_ppoll = SYS_ppoll;
#endif

long poll_for(std::int64_t duration_ns) {
  KernelTimespec left = kernel_timespec(duration_ns);  // the kernel writes what remained into it
  return syscall(sys_ppoll, nullptr, 0, &left, nullptr, 0);
}

struct Ppoll : InterruptibleSleep {
  std::int64_t wait(std::int64_t release_ns) {
    const std::int64_t before_ns = now();
    if (before_ns >= release_ns) return before_ns;
    check(poll_for(release_ns - before_ns));
    return now();
  }
};

Status available() {
  if (poll_for(0) == 0) return {};
  return not_possible("ppoll() does not work here: " + errno_text(errno));
}

Status run(LoopContext& loop) {
  Ppoll sleep;
  measure(loop, sleep);
  return outcome(sleep, "ppoll()");
}

}  // namespace

extern const Timer timer_ppoll = {
    .name = "ppoll",
    .summary = "ppoll() of no descriptors, with the time left as time-out",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
};

}  // namespace howlate
