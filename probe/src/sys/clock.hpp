// The clock of all measurements, and the kernel's clock source behind it.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#include "sys/root.hpp"

namespace howlate {

inline constexpr std::int64_t second_ns = 1'000'000'000;

constexpr struct timespec timespec_of(std::int64_t ns) {
  return {static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
}
constexpr std::int64_t ns_of(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * second_ns + time.tv_nsec;
}

inline std::int64_t monotonic_now_ns() {
  struct timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_of(now);
}

// Sleeps until then, regardless of signals.
inline void sleep_until_ns(std::int64_t until_ns) {
  const struct timespec until = timespec_of(until_ns);
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

// The kernel's current clock source ("tsc"), or "unknown".
std::string clock_source(const Root& root);

}  // namespace howlate
