// A signal to the other side's thread, taken with sigwaitinfo(): tgkill() and rt_sigtimedwait(), no handler.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "switches/pair.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

struct Signals {
  struct Task {
    pid_t process = 0, thread = 0;
  };
  std::array<Task, 2> tasks;
  int signal = 0;
  sigset_t awaited;

  Status make(bool /*processes*/) {
    signal = SIGRTMIN + 2;
    awaited = SignalMask::set({signal});
    return {};
  }
  void enter(Side side) {
    ::pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
    tasks[number(side)] = {::getpid(), static_cast<pid_t>(::syscall(SYS_gettid))};
  }
  void hand_over(Side from) {
    const Task& to = tasks[other(from)];
    ::syscall(SYS_tgkill, to.process, to.thread, signal);
  }
  void await(Side /*at*/, SwitchControl& control) {
    while (::sigwaitinfo(&awaited, nullptr) != signal && !control.over())
      if (errno != EINTR) control.failed(errno);
  }
};

}  // namespace

extern const Switch switch_signal;
const Switch switch_signal = {
    .name = "signal",
    .summary = "a signal to the other side's thread: tgkill() and sigwaitinfo()",
    .available = always_available,
    .make = PairOf<Signals>::make,
};

}  // namespace howlate
