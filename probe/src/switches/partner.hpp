// The partner as a process of its own: a fork that shares the pair, placed and with a policy as a measuring thread is.
#pragma once

#include <sys/types.h>

#include <vector>

#include "switches/switch.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

class PartnerProcess {
 public:
  PartnerProcess() = default;
  PartnerProcess(const PartnerProcess&) = delete;
  PartnerProcess& operator=(const PartnerProcess&) = delete;
  ~PartnerProcess() { end(); }

  // On the main thread while there is no other. When it returns well the partner is where and as it was asked to be.
  Status start(SwitchPair& pair, const std::vector<int>& cpus, const SchedPolicy& policy, const Root& root);
  // Waits until it has ended, however, and sends the leader home: to be called on a thread that may wait.
  void guard(SwitchPair& pair) const;
  void end();  // kills it where it is still there

 private:
  pid_t process_ = 0;
};

}  // namespace howlate
