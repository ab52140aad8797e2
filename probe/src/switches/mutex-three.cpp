// Three mutexes in a ring, each unlocked by who locked it.
#include "switches/locks.hpp"

namespace howlate {

extern const Switch switch_mutex_three;
const Switch switch_mutex_three = {
    .name = "mutex-three",
    .summary = "three mutexes in a ring, each unlocked by the side that locked it",
    .available = always_available,
    .make = PairOf<MutexRing<false>>::make,
};

}  // namespace howlate
