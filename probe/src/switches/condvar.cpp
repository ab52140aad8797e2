// A condition variable for each side, and one mutex around whose turn it is.
#include "switches/locks.hpp"

namespace howlate {

namespace {

struct Condvar : SwitchWay {
  pthread_mutex_t mutex;
  std::array<pthread_cond_t, 2> woken;
  unsigned turn = number(Side::leader);

  Status make(bool processes) {
    pthread_condattr_t attributes;
    ::pthread_condattr_init(&attributes);
    ::pthread_condattr_setpshared(&attributes, processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    for (pthread_cond_t& one : woken) ::pthread_cond_init(&one, &attributes);
    ::pthread_condattr_destroy(&attributes);
    return make_mutex(mutex, {.processes = processes, .robust = processes});
  }
  void hand_over(Side from) {
    ::pthread_mutex_lock(&mutex);
    turn = other(from);
    ::pthread_mutex_unlock(&mutex);
    ::pthread_cond_signal(&woken[other(from)]);
  }
  void await(Side at, SwitchControl& control) {
    ::pthread_mutex_lock(&mutex);
    while (turn != number(at) && !control.over()) ::pthread_cond_wait(&woken[number(at)], &mutex);
    ::pthread_mutex_unlock(&mutex);
  }
};

}  // namespace

extern const Switch switch_condvar;
const Switch switch_condvar = {
    .name = "condvar",
    .summary = "a condition variable for each side: pthread_cond_signal() and pthread_cond_wait()",
    .available = always_available,
    .make = PairOf<Condvar>::make,
};

}  // namespace howlate
