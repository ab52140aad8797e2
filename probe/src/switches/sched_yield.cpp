// sched_yield() until it is one's turn. No task ever sleeps, so there is no wake-up in it: the switch alone.
#include <sched.h>

#include "switches/pair.hpp"

namespace howlate {

namespace {

struct Yield : SwitchWay {
  std::atomic<unsigned> turn{number(Side::leader)};

  Status make(bool /*processes*/) { return {}; }
  void hand_over(Side from) { turn.store(other(from), std::memory_order_release); }
  void await(Side at, SwitchControl& control) {
    while (turn.load(std::memory_order_acquire) != number(at) && !control.over()) ::sched_yield();
  }
};

}  // namespace

extern const Switch switch_sched_yield;
const Switch switch_sched_yield = {
    .name = "sched_yield",
    .summary = "sched_yield() between two tasks that never sleep",
    .one_cpu = true,
    .available = always_available,
    .make = PairOf<Yield>::make,
};

}  // namespace howlate
