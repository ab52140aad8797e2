// The system call futex() itself, on a word of this process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace howlate {

#ifdef SYS_futex_time64
inline constexpr long sys_private_futex = SYS_futex_time64;
#else
inline constexpr long sys_private_futex = SYS_futex;
#endif

// Sleeps while the word has this value; returns when woken, at once if it has another, or after a signal.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  ::syscall(sys_private_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

// How many tasks were woken; -1 if the call failed.
inline long futex_wake(std::atomic<std::uint32_t>& word, int most) {
  return ::syscall(sys_private_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

}  // namespace howlate
