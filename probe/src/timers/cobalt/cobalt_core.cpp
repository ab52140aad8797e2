#include "timers/cobalt/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xenomai/init.h>

#include <cerrno>
#include <mutex>
#include <string>

#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {
namespace {

constexpr std::string_view version_file = "/proc/xenomai/version";
constexpr std::string_view where = "docs/cores.md says how to get such a kernel";

// Ends the program where the core does not take it.
void bind() {
  static char name[] = "howlate-probe";
  static char quiet[] = "--silent";
  static char* arguments[] = {name, quiet, nullptr};
  char* const* words = arguments;
  int count = 2;
  xenomai_init(&count, &words);
}

// The library's last line on standard error.
std::string last_line(const std::string& stderr_text) {
  const auto lines = parts_of(stderr_text, '\n');
  return lines.empty() ? "it says nothing" : trimmed(lines.back());
}

std::string read_all(int from) {
  std::string text;
  char part[512];
  for (ssize_t got = 0; (got = ::read(from, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

Status try_to_bind() {
  int ends[2];
  if (::pipe(ends) != 0) return broken("no pipe could be made: " + errno_text(errno));
  Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return broken("no child could be started: " + errno_text(errno));
  if (child == 0) {
    ::dup2(to.get(), STDERR_FILENO);
    bind();
    ::_exit(0);
  }
  to = Fd();
  const std::string stderr_text = read_all(from.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return not_possible("Cobalt does not take this program: " + last_line(stderr_text),
                      "`howlate doctor` names the usual reasons; " + std::string(where));
}

}  // namespace

Status Cobalt::present() {
  if (Root().exists(version_file)) return {};
  return not_possible("this kernel has no Cobalt core (" + std::string(version_file) + " does not exist)",
                      std::string(where));
}

Status Cobalt::available() {
  static const Status found = [] {
    const Status here = present();
    return here ? try_to_bind() : here;
  }();
  return found;
}

Status Cobalt::attach() {
  thread_local bool attached = false;
  if (attached) return {};
  int policy = SCHED_OTHER;
  struct sched_param parameters {};
  ::pthread_getschedparam(::pthread_self(), &policy, &parameters);
  if (policy != SCHED_FIFO && policy != SCHED_RR)
    return not_possible("a thread of Cobalt's is measured as fifo or rr", "Give --policy fifo:80");
  static std::once_flag bound;
  std::call_once(bound, bind);  // makes the caller a thread of Cobalt's as well
  if (const int failed = __RT(pthread_setschedparam(::pthread_self(), policy, &parameters)); failed != 0)
    return broken("Cobalt does not take the measuring thread: " + errno_text(failed));
  attached = true;
  return {};
}

void Cobalt::enter() {
  cobalt_thread_harden();
}

std::int64_t Cobalt::switches() {
  struct cobalt_threadstat counted {};
  return cobalt_thread_stat(0, &counted) == 0 ? static_cast<std::int64_t>(counted.msw) : 0;
}

}  // namespace howlate
