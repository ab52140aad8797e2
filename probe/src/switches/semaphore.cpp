// A POSIX semaphore for each side: sem_post() and sem_wait().
#include <semaphore.h>

#include <array>

#include "switches/pair.hpp"

namespace howlate {

namespace {

struct Semaphore : SwitchWay {
  std::array<sem_t, 2> semaphores;

  Status make(bool processes) {
    for (sem_t& one : semaphores) ::sem_init(&one, processes ? 1 : 0, 0);
    return {};
  }
  void hand_over(Side from) { ::sem_post(&semaphores[other(from)]); }
  void await(Side at, SwitchControl& control) {
    while (::sem_wait(&semaphores[number(at)]) != 0 && !control.over()) {  // EINTR
    }
  }
};

}  // namespace

extern const Switch switch_semaphore;
const Switch switch_semaphore = {
    .name = "semaphore",
    .summary = "a POSIX semaphore for each side: sem_post() and sem_wait()",
    .available = always_available,
    .make = PairOf<Semaphore>::make,
};

}  // namespace howlate
