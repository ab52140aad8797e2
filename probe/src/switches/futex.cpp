// A word for each side, and the system call futex() itself: always one wake, and one wait where the turn has not come.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "switches/pair.hpp"

namespace howlate {

namespace {

#ifdef SYS_futex_time64
constexpr long sys_futex = SYS_futex_time64;
#else
constexpr long sys_futex = SYS_futex;
#endif

struct FutexWords : SwitchWay {
  std::array<std::atomic<std::uint32_t>, 2> words;
  int of_process = 0;

  Status make(bool processes) {
    of_process = processes ? 0 : FUTEX_PRIVATE_FLAG;
    for (auto& word : words) word.store(0, std::memory_order_relaxed);
    return {};
  }
  void hand_over(Side from) {
    auto& word = words[other(from)];
    word.store(1, std::memory_order_release);
    ::syscall(sys_futex, &word, FUTEX_WAKE | of_process, 1, nullptr, nullptr, 0);
  }
  void await(Side at, SwitchControl& control) {
    auto& word = words[number(at)];
    while (word.load(std::memory_order_acquire) == 0 && !control.over())
      ::syscall(sys_futex, &word, FUTEX_WAIT | of_process, 0, nullptr, nullptr, 0);
    word.store(0, std::memory_order_relaxed);
  }
};

}  // namespace

extern const Switch switch_futex;
const Switch switch_futex = {
    .name = "futex",
    .summary = "a word for each side: futex() wake and wait",
    .available = always_available,
    .make = PairOf<FutexWords>::make,
};

}  // namespace howlate
