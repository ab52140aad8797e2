#include "timers/evl/evl_core.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "sys/core_state.hpp"
#include "sys/file.hpp"
#include "timers/evl/library.hpp"

namespace howlate {
namespace {

constexpr const char* control = "/dev/evl/control";

// libevl attaches a thread that is rr without a time slice.
Status give_slice(int thread, const CorePolicy& policy) {
  struct evl_sched_attrs attributes {};
  attributes.sched_policy = SCHED_RR;
  attributes.sched_priority = policy.priority;
  attributes.sched_rr_quantum.tv_sec = policy.quantum.tv_sec;
  attributes.sched_rr_quantum.tv_nsec = policy.quantum.tv_nsec;
  const int failed = -evl_set_schedattr(thread, &attributes);
  return failed == 0 ? Status()
                     : broken("EVL gives the measuring thread no time slice: " + errno_text(failed));
}

Status check_policy(int thread, const CorePolicy& policy) {
  struct evl_sched_attrs attributes {};
  if (const int failed = -evl_get_schedattr(thread, &attributes); failed != 0)
    return broken("EVL does not tell the measuring thread's policy: " + errno_text(failed));
  CorePolicy taken{attributes.sched_policy, attributes.sched_priority, {}};
  if (taken.policy == SCHED_RR) {
    taken.quantum.tv_sec = attributes.sched_rr_quantum.tv_sec;
    taken.quantum.tv_nsec = attributes.sched_rr_quantum.tv_nsec;
  }
  return check_taken(policy, taken);
}

}  // namespace

Status Evl::available() {
  if (Status runs = core_runs(Root(), name); !runs) return runs;
  const Fd opened(::open(control, O_RDWR | O_CLOEXEC));
  if (opened.valid()) return {};
  return not_possible("EVL does not take this program: " + std::string(control) + ": " + errno_text(errno),
                      "`howlate doctor` names the usual reasons");
}

Status Evl::take(const CorePolicy& policy) {
  const int thread = evl_attach_self("howlate-%d", static_cast<int>(::gettid()));
  if (thread < 0) return broken("EVL does not take the measuring thread: " + errno_text(-thread));
  if (policy.policy == SCHED_RR)
    if (Status given = give_slice(thread, policy); !given) return given;
  return check_policy(thread, policy);
}

void Evl::enter() {
  evl_switch_oob();
}

Result<std::int64_t> Evl::switches() {
  struct evl_thread_state state {};
  const int failed = -evl_get_state(evl_get_self(), &state);
  if (failed != 0)
    return broken("EVL does not tell how often the thread left its stage: " + errno_text(failed));
  return static_cast<std::int64_t>(state.isw);
}

}  // namespace howlate
