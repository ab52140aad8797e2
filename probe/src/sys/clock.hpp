// The clock that everything is measured on, and what the kernel drives it with.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#include "sys/root.hpp"

namespace howlate {

inline std::int64_t monotonic_now_ns() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Sleeps until then, whatever signals come.
inline void sleep_until_ns(std::int64_t until_ns) {
  const struct timespec until {
    static_cast<time_t>(until_ns / 1'000'000'000), static_cast<long>(until_ns % 1'000'000'000)
  };
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

// The kernel's current clock source ("tsc"), or "unknown".
std::string clock_source(const Root& root);

}  // namespace howlate
