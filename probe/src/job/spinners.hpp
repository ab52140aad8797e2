// Tasks that take what nobody else wants of each CPU. A guest's CPUs share one virtual clock: beside an idle one, a busy one
// would execute twice as much in the same time. With them the share of the machine's instructions that each
// CPU executes is constant.
#pragma once

#include <atomic>
#include <vector>

#include "core/result.hpp"
#include "sys/thread.hpp"

namespace howlate {

class Spinners {
 public:
  Spinners() = default;
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;
  ~Spinners() { stop_ = true; }

  // A thread more for each of these CPUs, of the class that runs when nothing else does (SCHED_IDLE).
  Status start(const std::vector<int>& cpus);

 private:
  void spin() const;

  std::atomic<bool> stop_{false};
  std::vector<RtThread> threads_;
};

}  // namespace howlate
