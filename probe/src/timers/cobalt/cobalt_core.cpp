#include "timers/cobalt/cobalt_core.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xenomai/init.h>

#include <cerrno>
#include <mutex>
#include <string>

#include "sys/core_state.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

// Ends the program where the core does not take it.
void bind() {
  static char name[] = "howlate-probe";
  static char quiet[] = "--silent";
  static char* arguments[] = {name, quiet, nullptr};
  char* const* words = arguments;
  int count = 2;
  xenomai_init(&count, &words);
}

constexpr int no_stderr = 124;  // how the child below ends that cannot pass on what the library says

std::string read_all(int from) {
  std::string text;
  char part[512];
  for (ssize_t got = 0; (got = ::read(from, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Status Cobalt::try_to_bind() {
  int ends[2];
  if (::pipe(ends) != 0) return broken("no pipe could be made: " + errno_text(errno));
  Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return broken("no child could be started: " + errno_text(errno));
  if (child == 0) {
    if (::dup2(to.get(), STDERR_FILENO) < 0) ::_exit(no_stderr);
    bind();
    ::_exit(0);
  }
  to = Fd();
  const std::string stderr_text = read_all(from.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_stderr)
    return broken("what Cobalt says to this program cannot be read");
  return not_possible(
      "Cobalt does not take this program: " + reason_of_refusal(stderr_text),
      "`howlate doctor` names the usual reasons; see docs/cores.md for how to get such a kernel");
}

Status Cobalt::available() {
  static const Status found = [] {
    if (Status runs = core_runs(Root(), name); !runs) return runs;
    if (Status admitted = cobalt_admits_caller(Root()); !admitted) return admitted;
    return try_to_bind();
  }();
  return found;
}

Status Cobalt::take(const CorePolicy& policy) {
  static std::once_flag bound;
  std::call_once(bound, bind);  // makes the caller a thread of Cobalt's as well
  struct sched_param_ex parameters {};
  parameters.sched_priority = policy.priority;
  if (policy.policy == SCHED_RR) {
    parameters.sched_rr_quantum.tv_sec = policy.quantum.tv_sec;
    parameters.sched_rr_quantum.tv_nsec = policy.quantum.tv_nsec;
  }
  if (const int failed = ::pthread_setschedparam_ex(::pthread_self(), policy.policy, &parameters);
      failed != 0)
    return broken("Cobalt does not take the measuring thread: " + errno_text(failed));
  return check_policy(policy);
}

Status Cobalt::check_policy(const CorePolicy& policy) {
  CorePolicy taken;
  struct sched_param_ex parameters {};
  if (const int failed = ::pthread_getschedparam_ex(::pthread_self(), &taken.policy, &parameters);
      failed != 0)
    return broken("Cobalt does not tell the measuring thread's policy: " + errno_text(failed));
  taken.priority = parameters.sched_priority;
  if (taken.policy == SCHED_RR) {
    taken.quantum.tv_sec = parameters.sched_rr_quantum.tv_sec;
    taken.quantum.tv_nsec = parameters.sched_rr_quantum.tv_nsec;
  }
  return check_taken(policy, taken);
}

void Cobalt::enter() {
  cobalt_thread_harden();
}

Result<std::int64_t> Cobalt::switches() {
  struct cobalt_threadstat counted {};
  const int failed = -cobalt_thread_stat(0, &counted);
  if (failed != 0)
    return broken("Cobalt does not tell how often the thread left its stage: " + errno_text(failed));
  return static_cast<std::int64_t>(counted.msw);
}

}  // namespace howlate
