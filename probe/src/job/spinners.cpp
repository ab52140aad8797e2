#include "job/spinners.hpp"

#include <signal.h>

#include <string>
#include <utility>

#include "sys/sched.hpp"

namespace howlate {

Status Spinners::start(const std::vector<int>& cpus) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // a signal for this process is another thread's
  Status status;
  for (const int cpu : cpus) {
    ThreadSpec spec;
    spec.cpus = {cpu};
    spec.policy.kind = SchedKind::idle;
    spec.name = "spinner/" + std::to_string(cpu);
    spec.stack_bytes = least_stack_bytes();
    Result<RtThread> thread = RtThread::start(spec, [this] { spin(); });
    if (!thread) {
      status = thread.error();
      break;
    }
    threads_.push_back(std::move(*thread));
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

// Without `pause`, at which QEMU ends a turn. An emulator's cost is that of looking for the flag: it skips the rest.
void Spinners::spin() const {
  while (!stop_.load(std::memory_order_relaxed)) asm volatile(".rept 256\n nop\n .endr" ::: "memory");
}

}  // namespace howlate
