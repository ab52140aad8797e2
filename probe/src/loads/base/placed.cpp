#include "loads/base/placed.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/text.hpp"
#include "loads/base/family.hpp"
#include "sys/file.hpp"
#include "sys/memory.hpp"

namespace howlate {

namespace {

Status become(const PlacedSpec& spec, const Root& root) {
  ::prctl(PR_SET_NAME, spec.name.c_str());
  if (Status placed = set_affinity(spec.cpus); !placed) return placed;
  return set_policy(spec.policy, root);
}

// The child's whole life. What went wrong before its work is told through `tell`.
[[noreturn]] void live(const PlacedSpec& spec, const Root& root, const std::function<void()>& body,
                       int tell) {
  const Status ready = become(spec, root);
  const std::string why = ready ? std::string() : sentence(ready.error());
  const MemoryLock memory = MemoryLock::take(root);
  touch_mapped();
  if (!why.empty() && ::write(tell, why.data(), why.size()) < 0) ::_exit(1);
  ::close(tell);
  if (ready) body();
  ::_exit(0);
}

}  // namespace

Status PlacedProcess::start(const PlacedSpec& spec, const Root& root, const std::function<void()>& body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken("no pipe: " + errno_text(errno));
  Fd read_end(ends[0]), write_end(ends[1]);
  process_ = fork_child();
  if (process_ == 0) live(spec, root, body, write_end.get());
  if (process_ < 0) {
    process_ = 0;
    return not_possible("cannot make the process " + spec.name + ": " + errno_text(errno),
                        "Look at 'ulimit -u'");
  }
  write_end.reset();
  std::string why;
  char part[256];
  for (ssize_t got = 0; (got = ::read(read_end.get(), part, sizeof part)) > 0;)
    why.append(part, static_cast<std::size_t>(got));
  if (!why.empty()) return not_possible("the process " + spec.name + ": " + why);
  return {};
}

void PlacedProcess::await() const {
  siginfo_t how;
  while (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

bool PlacedProcess::has_ended() const {
  siginfo_t how = {};
  return ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         how.si_pid == process_;
}

void PlacedProcess::end() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
}

}  // namespace howlate
