// Three mutexes with priority inheritance in a ring, each unlocked by who locked it: the kernel's rt_mutex, which gives the lock
// itself to the task that it wakes.
#include "switches/locks.hpp"

namespace howlate {

namespace {
Status available() {
  pthread_mutex_t mutex;
  return make_mutex(mutex, {.inherit = true});
}
}  // namespace

extern const Switch switch_mutex_pi;
const Switch switch_mutex_pi = {
    .name = "mutex-pi",
    .summary = "three mutexes with priority inheritance in a ring",
    .available = available,
    .make = PairOf<MutexRing<true>>::make,
};

}  // namespace howlate
