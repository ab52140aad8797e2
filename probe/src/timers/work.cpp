#include "timers/work.hpp"

#include <algorithm>
#include <cstddef>

namespace howlate {

namespace {

// A chain of multiply and add: each step needs the one before, so the CPU cannot shorten it. No compiler makes
// this loop, so an iteration is the same instructions wherever the probe was built. `left` is above 0.
void work_loop(std::size_t left) {
  std::size_t value = left;
  const std::size_t by = 1664525, more = 1013904223;
#if defined(__x86_64__)  // 4 instructions
  asm volatile("1: imul %2, %0\n\tadd %3, %0\n\tdec %1\n\tjnz 1b"
               : "+r"(value), "+r"(left)
               : "r"(by), "r"(more)
               : "cc");
#elif defined(__aarch64__)  // 3
  asm volatile("1: madd %0, %0, %2, %3\n\tsubs %1, %1, #1\n\tb.ne 1b"
               : "+r"(value), "+r"(left)
               : "r"(by), "r"(more)
               : "cc");
#elif defined(__arm__)      // 3
  asm volatile("1: mla %0, %0, %2, %3\n\tsubs %1, %1, #1\n\tbne 1b"
               : "+r"(value), "+r"(left)
               : "r"(by), "r"(more)
               : "cc");
#elif defined(__riscv)      // 4
  asm volatile("1: mul %0, %0, %2\n\tadd %0, %0, %3\n\taddi %1, %1, -1\n\tbnez %1, 1b"
               : "+r"(value), "+r"(left)
               : "r"(by), "r"(more));
#else                       // as many as the compiler makes
  for (; left > 0; --left) {
    value = value * by + more;
    asm volatile("" : "+r"(value));
  }
#endif
}

}  // namespace

void do_work(std::int64_t iterations) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // below what a word of 32 bits counts
  for (; iterations > 0; iterations -= most) work_loop(static_cast<std::size_t>(std::min(iterations, most)));
}

}  // namespace howlate
