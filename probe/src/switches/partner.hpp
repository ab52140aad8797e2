// The partner as a process of its own: a fork that shares the pair, placed and with a policy as a measuring thread is.
#pragma once

#include <vector>

#include "loads/base/placed.hpp"
#include "switches/switch.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

class PartnerProcess {
 public:
  // On the main thread while there is no other. When it returns well the partner is where and as it was asked to be.
  Status start(SwitchPair& pair, const std::vector<int>& cpus, const SchedPolicy& policy, const Root& root) {
    return process_.start({"switch/partner", cpus, policy}, root, [&pair] { pair.follow(); });
  }
  // Waits until it has ended, however, and sends the leader home: to be called on a thread that may wait.
  void guard(SwitchPair& pair) const {
    process_.await();
    pair.abandon();
  }
  void end() { process_.end(); }

 private:
  PlacedProcess process_;
};

}  // namespace howlate
