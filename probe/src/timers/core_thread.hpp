// What a real-time core beside Linux takes over from a measuring thread that is to be its own.
#pragma once

#include <ctime>

#include "core/result.hpp"

namespace howlate {

struct CorePolicy {
  int policy = 0;  // SCHED_FIFO or SCHED_RR
  int priority = 0;
  struct timespec quantum {};  // of SCHED_RR: Linux's, so that rr is the same with every timer; otherwise 0
};

// The calling thread's; not possible with another policy.
Result<CorePolicy> own_core_policy();

// What the core says that the thread has must be what it was given.
Status check_taken(const CorePolicy& given, const CorePolicy& taken);

}  // namespace howlate
