#include "timers/core_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <string>

#include "sys/file.hpp"

namespace howlate {
namespace {

std::string policy_text(const CorePolicy& policy) {
  std::string text = policy.policy == SCHED_RR     ? "rr:"
                     : policy.policy == SCHED_FIFO ? "fifo:"
                                                   : "another policy:";
  text += std::to_string(policy.priority);
  if (policy.policy == SCHED_RR)
    text += " in slices of " +
            std::to_string(policy.quantum.tv_sec * 1'000'000 + policy.quantum.tv_nsec / 1000) + " us";
  return text;
}

}  // namespace

Result<CorePolicy> own_core_policy() {
  CorePolicy own;
  struct sched_param parameters {};
  if (const int failed = ::pthread_getschedparam(::pthread_self(), &own.policy, &parameters); failed != 0)
    return broken("the measuring thread's policy cannot be read: " + errno_text(failed));
  own.priority = parameters.sched_priority;
  if (own.policy == SCHED_FIFO) return own;
  if (own.policy != SCHED_RR)
    return not_possible("a task of a real-time core runs as fifo or rr, and the measuring thread as neither",
                        "Give --policy fifo:80");
  if (::sched_rr_get_interval(0, &own.quantum) != 0)
    return broken("Linux's time slice for rr cannot be read: " + errno_text(errno));
  return own;
}

Status check_taken(const CorePolicy& given, const CorePolicy& taken) {
  const std::string wanted = policy_text(given);
  const std::string got = policy_text(taken);
  if (wanted == got) return {};
  return broken("the core was to run the measuring thread as " + wanted + " and runs it as " + got);
}

}  // namespace howlate
