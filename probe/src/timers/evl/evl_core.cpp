#include "timers/evl/thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "sys/file.hpp"
#include "sys/root.hpp"
#include "timers/evl/library.hpp"

namespace howlate {
namespace {

constexpr const char* control = "/dev/evl/control";
constexpr std::string_view where = "docs/cores.md says how to get such a kernel";

}  // namespace

Status Evl::present() {
  if (Root().exists(control)) return {};
  return not_possible("this kernel has no EVL core (" + std::string(control) + " does not exist)",
                      std::string(where));
}

Status Evl::available() {
  if (Status here = present(); !here) return here;
  const Fd opened(::open(control, O_RDWR | O_CLOEXEC));
  if (!opened.valid())
    return not_possible("EVL does not take this program: " + std::string(control) + ": " + errno_text(errno),
                        "`howlate doctor` names the usual reasons");
  const auto state = Root().read_text("/sys/devices/virtual/evl/control/state");
  if (state && *state != "running")
    return not_possible("the EVL core is " + *state,
                        "Start it: `evl start`, or boot without evl.state=stopped");
  return {};
}

Status Evl::attach() {
  thread_local bool attached = false;
  if (attached) return {};
  int policy = SCHED_OTHER;
  struct sched_param parameters {};
  ::pthread_getschedparam(::pthread_self(), &policy, &parameters);
  if (policy != SCHED_FIFO && policy != SCHED_RR)
    return not_possible("a thread of EVL's is measured as fifo or rr", "Give --policy fifo:80");
  const int thread = evl_attach_self("howlate-%d", static_cast<int>(::gettid()));
  if (thread < 0) return broken("EVL does not take the measuring thread: " + errno_text(-thread));
  attached = true;
  return {};
}

void Evl::enter() {
  evl_switch_oob();
}

std::int64_t Evl::switches() {
  struct evl_thread_state state {};
  return evl_get_state(evl_get_self(), &state) == 0 ? static_cast<std::int64_t>(state.isw) : 0;
}

}  // namespace howlate
