// Two default mutexes handed to and fro: each side waits by locking its own, and is woken when the other unlocks it (tut-2017).
//
// POSIX does not define what happens when a task unlocks what another locked; the C libraries of Linux keep no owner of a default
// mutex, so it is the plain futex path there. `mutex-three` asks the same with every mutex unlocked by who locked it.
#include "switches/locks.hpp"

namespace howlate {

namespace {

struct TwoMutexes : SwitchWay {
  std::array<pthread_mutex_t, 2> mutexes;

  Status make(bool processes) {
    for (pthread_mutex_t& mutex : mutexes) {
      if (Status made = make_mutex(mutex, {.processes = processes}); !made) return made;
      ::pthread_mutex_lock(&mutex);
    }
    return {};
  }
  void hand_over(Side from) { ::pthread_mutex_unlock(&mutexes[other(from)]); }
  void await(Side at, SwitchControl& /*control*/) { ::pthread_mutex_lock(&mutexes[number(at)]); }
};

}  // namespace

extern const Switch switch_mutex;
const Switch switch_mutex = {
    .name = "mutex",
    .summary = "two mutexes, each locked by one side and unlocked by the other, as published",
    .available = always_available,
    .make = PairOf<TwoMutexes>::make,
};

}  // namespace howlate
