// The four instants of one preemption, and what is made of them.
#pragma once

#include <cstdint>

namespace howlate {

struct PreemptionTimes {
  std::int64_t t1 = 0;  // P2's last reading before
  std::int64_t t2 = 0;  // P1 is awake
  std::int64_t t3 = 0;  // P1 has spun its time and goes
  std::int64_t t4 = 0;  // P2's first reading after
};

struct Preemption {
  std::int64_t cs1_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t cs2_ns = 0;
  bool passed = false;  // t1 < t2 < t3 < t4
};

inline Preemption judge(const PreemptionTimes& times, std::int64_t spin_ns) {
  return {times.t2 - times.t1, times.t3 - times.t2 - spin_ns, times.t4 - times.t3,
          times.t1 < times.t2 && times.t2 < times.t3 && times.t3 < times.t4};
}

}  // namespace howlate
