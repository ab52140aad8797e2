// FUTEX_WAIT_BITSET with an absolute time-out, on a word that nobody changes or wakes.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

#ifdef SYS_futex_time64
constexpr long sys_futex = SYS_futex_time64;
#else
constexpr long sys_futex = SYS_futex;
#endif

long wait_on(std::uint32_t& word, std::int64_t instant_ns) {
  const KernelTimespec until = kernel_timespec(instant_ns);
  const long returned = syscall(sys_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, word, &until,
                                nullptr, FUTEX_BITSET_MATCH_ANY);
  return returned < 0 && errno == ETIMEDOUT ? 0 : returned;
}

struct Futex : InterruptibleSleep {
  std::uint32_t word = 0;

  std::int64_t wait(std::int64_t release_ns) {
    check(wait_on(word, release_ns));
    return now();
  }
};

Status available() {
  std::uint32_t word = 0;
  if (wait_on(word, 0) == 0) return {};
  return not_possible("a futex with an absolute time-out does not work here: " + errno_text(errno));
}

Status run(LoopContext& loop) {
  Futex sleep;
  measure(loop, sleep);
  return outcome(sleep, "futex()");
}

}  // namespace

extern const Timer timer_futex = {
    .name = "futex",
    .summary = "futex() wait until an absolute time-out",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
};

}  // namespace howlate
