#include "cell/load_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/result.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

void close_from(unsigned first) {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t last = std::min<rlim_t>(limit.rlim_cur, 65536);
  for (rlim_t fd = first; fd < last; ++fd) ::close(static_cast<int>(fd));
}

}  // namespace

void become_load(pid_t parent, char* const* words, int out, int err, int report, int slots) {
  if (!end_with_parent(SIGKILL, parent)) ::_exit(0);
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // All are moved above where they go, so that none is overwritten before it is used.
  out = ::fcntl(out, F_DUPFD, 10);
  err = ::fcntl(err, F_DUPFD, 10);
  report = ::fcntl(report, F_DUPFD, 10);
  slots = ::fcntl(slots, F_DUPFD, 10);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::dup2(report, report_place);
  ::dup2(slots, slots_place);
  close_from(slots_place + 1);
  ::execv("/proc/self/exe", words);
  static constexpr std::string_view emulated =
      "the load's program cannot be executed: this kernel starts no programs of its architecture";
  static constexpr std::string_view hidden = "the load's program cannot be executed: /proc is not mounted";
  const std::string_view sentence = errno == ENOEXEC ? emulated : hidden;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(static_cast<int>(ExitCode::not_possible));
}

}  // namespace howlate
