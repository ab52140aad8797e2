// Locks of the C library for both sides, in memory that a fork may share.
#pragma once

#include <pthread.h>

#include <array>

#include "switches/pair.hpp"

namespace howlate {

struct MutexKind {
  bool processes = false;
  bool inherit = false;  // PTHREAD_PRIO_INHERIT
  bool robust = false;   // locking goes on, with an error, when the owner died
};

inline Status make_mutex(pthread_mutex_t& mutex, MutexKind kind) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes,
                                 kind.processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
  ::pthread_mutexattr_setprotocol(&attributes, kind.inherit ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
  if (kind.robust) ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int failed = ::pthread_mutex_init(&mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  if (failed != 0) return not_possible("this kernel has no such mutex: " + errno_text(failed));
  return {};
}

// Three mutexes, each unlocked by who locked it. Whoever has the turn holds two; the other holds the third and waits for one of the
// two. Switch number n: unlock mutex n, lock mutex n + 1 (modulo 3), which the other holds. Two mutexes cannot force this: after
// the unlock of one, the other's owner would hold none that could be waited for.
template <bool inherit>
struct MutexRing {
  std::array<pthread_mutex_t, 3> mutexes;
  std::array<std::size_t, 2> at = {1, 0};  // of each side: which it unlocks at its next hand-over

  Status make(bool processes) {
    for (pthread_mutex_t& mutex : mutexes)
      if (Status made = make_mutex(mutex, {processes, inherit, processes}); !made) return made;
    return {};
  }
  void enter(Side side) {
    if (side == Side::partner) {
      ::pthread_mutex_lock(&mutexes[2]);
    } else {
      ::pthread_mutex_lock(&mutexes[0]);
      ::pthread_mutex_lock(&mutexes[1]);
    }
  }
  void hand_over(Side from) { ::pthread_mutex_unlock(&mutexes[at[number(from)]]); }
  void await(Side side, SwitchControl& /*control*/) {
    std::size_t& here = at[number(side)];
    ::pthread_mutex_lock(&mutexes[(here + 1) % 3]);
    here = (here + 2) % 3;
  }
};

}  // namespace howlate
