// The system call clock_nanosleep on CLOCK_MONOTONIC, without the C library's function around it: that one is
// a cancellation point, and syscall() moves every argument once more. Each would cost instructions in every
// activation.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "timers/sleep.hpp"

namespace howlate {

#if defined(__x86_64__)
inline long call_nanosleep(long flags, const KernelTimespec* time) {
  long returned = SYS_clock_nanosleep;
  register long remaining asm("r10") = 0;
  asm volatile("syscall"
               : "+a"(returned)
               : "D"(static_cast<long>(CLOCK_MONOTONIC)), "S"(flags), "d"(time), "r"(remaining)
               : "rcx", "r11", "memory");
  return returned;
}
#elif defined(__aarch64__)
inline long call_nanosleep(long flags, const KernelTimespec* time) {
  register long number asm("x8") = SYS_clock_nanosleep;
  register long returned asm("x0") = CLOCK_MONOTONIC;
  register long flags_there asm("x1") = flags;
  register const KernelTimespec* time_there asm("x2") = time;
  register long remaining asm("x3") = 0;
  asm volatile("svc 0"
               : "+r"(returned)
               : "r"(number), "r"(flags_there), "r"(time_there), "r"(remaining)
               : "memory", "cc");
  return returned;
}
#else
inline long call_nanosleep(long flags, const KernelTimespec* time) {
#ifdef SYS_clock_nanosleep_time64
  constexpr long number = SYS_clock_nanosleep_time64;
#else
  constexpr long number = SYS_clock_nanosleep;
#endif
  return syscall(number, CLOCK_MONOTONIC, flags, time, nullptr) == 0 ? 0 : -errno;
}
#endif

// Both give 0, or a negative errno (-EINTR where a signal was handled).
inline long sleep_until(std::int64_t instant_ns) {
  const KernelTimespec until = kernel_timespec(instant_ns);
  return call_nanosleep(TIMER_ABSTIME, &until);
}
inline long sleep_for(std::int64_t duration_ns) {
  const KernelTimespec left = kernel_timespec(duration_ns);
  return call_nanosleep(0, &left);
}

}  // namespace howlate
