#include "loads/base/family.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sys/process.hpp"

namespace howlate {

pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!end_with_parent(SIGKILL, parent)) ::_exit(0);  // the parent died between the fork and this
  for (const int end : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE}) ::signal(end, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return 0;
}

std::int64_t own_cpu_ns() {
  struct timespec own {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  struct rusage ended {};
  ::getrusage(RUSAGE_CHILDREN, &ended);
  const std::int64_t ended_us =
      (static_cast<std::int64_t>(ended.ru_utime.tv_sec) + ended.ru_stime.tv_sec) * 1'000'000 +
      ended.ru_utime.tv_usec + ended.ru_stime.tv_usec;
  return static_cast<std::int64_t>(own.tv_sec) * 1'000'000'000 + own.tv_nsec + ended_us * 1000;
}

std::int64_t process_cpu_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

}  // namespace howlate
