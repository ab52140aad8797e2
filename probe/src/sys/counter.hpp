// The CPU's own counter, read by an instruction: x86's TSC, arm64's virtual counter. Ordered: not read before the instructions that precede
// it in the program.
#pragma once

#include <cstdint>

namespace howlate {

#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool has_counter = true;
inline std::int64_t read_counter() {
  std::uint32_t low = 0, high = 0;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
  return static_cast<std::int64_t>(std::uint64_t{high} << 32U | low);
}
#elif defined(__aarch64__)
inline constexpr bool has_counter = true;
inline std::int64_t read_counter() {
  std::uint64_t count = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count)::"memory");
  return static_cast<std::int64_t>(count);
}
#else
inline constexpr bool has_counter = false;
inline std::int64_t read_counter() {
  return 0;
}
#endif

}  // namespace howlate
