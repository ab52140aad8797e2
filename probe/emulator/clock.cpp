// Loaded into a guest's QEMU (LD_PRELOAD): gettimeofday() that does not follow the host's clock.
//
// In virtual time QEMU asks it for one thing: at each flush of a CPU's software TLB, whether 100 ms have passed since the table's
// size was looked at (tlb_mmu_resize_locked, accel/tcg/cputlb.c). A smaller table forgets entries earlier, and a guest can tell:
// a kernel that gives a page more rights need not flush, so a CPU that still has the entry takes a page fault and one that has
// forgotten it does not. Here each question takes 0.1 ms, so that the size follows the number of flushes.
//
// All CPUs of a guest are one thread, which has a clock of its own; what other threads ask does not move it. Without a C
// library, so that it loads into any.
#include <sys/time.h>

namespace {

constexpr long long begin_s = 1'767'225'600, us_per_s = 1'000'000,
                    step_us = 100;  // 2026-01-01, as the guest's RTC

thread_local long long us __attribute__((tls_model("initial-exec"))) = 0;
thread_local bool is_main __attribute__((tls_model("initial-exec"))) =
    false;  // QEMU's main loop: its clock stands

__attribute__((constructor)) void loaded() {
  is_main = true;
}

}  // namespace

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  if (!is_main) us += step_us;
  time->tv_sec = static_cast<decltype(time->tv_sec)>(begin_s + us / us_per_s);
  time->tv_usec = static_cast<decltype(time->tv_usec)>(us % us_per_s);
  return 0;
}
