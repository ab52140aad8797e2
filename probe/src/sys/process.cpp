#include "sys/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "sys/clock.hpp"

namespace howlate {

Status end_with_parent(int signal, pid_t parent) {
  const pid_t before = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, signal) != 0)
    return broken("cannot ask to end with the parent: " + errno_text(errno));
  const pid_t now = ::getppid();
  if (now != before || (parent != 0 && now != parent)) return broken("the parent has already ended");
  return {};
}

Status end_with_parent(int signal, const Params& params) {
  return end_with_parent(signal, params.is_set("parent") ? static_cast<pid_t>(params.integer("parent")) : 0);
}

Result<Fd> take_end_signals() {
  sigset_t all;
  ::sigfillset(&all);
  for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS})
    ::sigdelset(&all, fatal);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int end : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, end);
  Fd fd(::signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.valid()) return broken("cannot wait for signals: " + errno_text(errno));
  return fd;
}

int take_signal(const Fd& fd) {
  struct signalfd_siginfo info {};
  const ssize_t got = ::read(fd.get(), &info, sizeof info);
  return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

int await_signal(const Fd& fd, std::int64_t until_ns) {
  for (;;) {
    if (const int signal = take_signal(fd); signal != 0) return signal;
    const std::int64_t left_ns = until_ns - monotonic_now_ns();
    if (left_ns <= 0) return 0;
    const struct timespec left = timespec_of(left_ns);
    struct pollfd one {
      fd.get(), POLLIN, 0
    };
    ::ppoll(&one, 1, &left, nullptr);
  }
}

}  // namespace howlate
