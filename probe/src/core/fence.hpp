// For records that somebody else writes at the same time: the kernel, or a program in it.
#pragma once

#include <atomic>

namespace howlate {

// What stands before the call is read before what stands after it.
inline void read_in_order() {
#ifndef __SANITIZE_THREAD__  // it knows no fences, and sees nothing of the kernel that writes
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace howlate
