// A timerfd on CLOCK_MONOTONIC, armed with absolute times.
#pragma once

#include <errno.h>
#include <sys/timerfd.h>

#include <cstdint>

#include "timers/sleep.hpp"

namespace howlate {

inline Result<Fd> open_timer_descriptor() {
  Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (timer.valid()) return timer;
  return not_possible("this kernel gives no timerfd: " + errno_text(errno), "choose another timer");
}

// Arming anew also takes back an expiry that nobody has read.
inline int arm_timer_descriptor(int fd, std::int64_t release_ns) {
  struct itimerspec once = {};
  once.it_value = timespec_of(release_ns);
  return timerfd_settime(fd, TFD_TIMER_ABSTIME, &once, nullptr);
}

}  // namespace howlate
