// A timer of the kernel that sends a signal at an instant.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>

#include "sys/clock.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace howlate {

class PosixTimer {
 public:
  // Sends `signal` to the thread of that number, or to the process (0).
  explicit PosixTimer(int signal, pid_t thread = 0) {
    struct sigevent event = {};
    event.sigev_notify = thread != 0 ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
    event.sigev_signo = signal;
    if (thread != 0) event.sigev_notify_thread_id = thread;
    made_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~PosixTimer() {
    if (made_) timer_delete(timer_);
  }
  PosixTimer(const PosixTimer&) = delete;
  PosixTimer& operator=(const PosixTimer&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  // At that instant (CLOCK_MONOTONIC), instead of at the one before; 0: never.
  int arm(std::int64_t at_ns) {
    struct itimerspec once = {};
    once.it_value = timespec_of(at_ns);
    return timer_settime(timer_, TIMER_ABSTIME, &once, nullptr);
  }

 private:
  timer_t timer_ = {};
  bool made_ = false;
};

}  // namespace howlate
