#include "switches/partner.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/text.hpp"
#include "loads/base/family.hpp"
#include "sys/file.hpp"
#include "sys/memory.hpp"

namespace howlate {

namespace {

Status become(const std::vector<int>& cpus, const SchedPolicy& policy, const Root& root) {
  ::prctl(PR_SET_NAME, "switch/partner");
  if (Status placed = set_affinity(cpus); !placed) return placed;
  return set_policy(policy, root);
}

// The child's whole life. What went wrong before the first turn is told through `tell`.
[[noreturn]] void live(SwitchPair& pair, const std::vector<int>& cpus, const SchedPolicy& policy,
                       const Root& root, int tell) {
  const Status ready = become(cpus, policy, root);
  const std::string why = ready ? std::string() : sentence(ready.error());
  const MemoryLock memory = MemoryLock::take(root);
  touch_mapped();
  if (!why.empty() && ::write(tell, why.data(), why.size()) < 0) ::_exit(1);
  ::close(tell);
  if (ready) pair.follow();
  ::_exit(0);
}

}  // namespace

Status PartnerProcess::start(SwitchPair& pair, const std::vector<int>& cpus, const SchedPolicy& policy,
                             const Root& root) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken("no pipe: " + errno_text(errno));
  Fd read_end(ends[0]), write_end(ends[1]);
  process_ = fork_child();
  if (process_ == 0) live(pair, cpus, policy, root, write_end.get());
  if (process_ < 0) {
    process_ = 0;
    return not_possible("cannot make the partner's process: " + errno_text(errno), "Look at 'ulimit -u'");
  }
  write_end.reset();
  std::string why;
  char part[256];
  for (ssize_t got = 0; (got = ::read(read_end.get(), part, sizeof part)) > 0;)
    why.append(part, static_cast<std::size_t>(got));
  if (!why.empty()) return not_possible("the partner's process: " + why);
  return {};
}

void PartnerProcess::guard(SwitchPair& pair) const {
  siginfo_t how;
  while (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  pair.abandon();
}

void PartnerProcess::end() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
}

}  // namespace howlate
