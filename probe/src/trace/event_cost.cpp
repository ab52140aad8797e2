#include "trace/event_cost.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "sys/clock.hpp"
#include "sys/thread.hpp"

namespace howlate {

namespace {

constexpr std::size_t calls = 501;
constexpr const char* enable = "events/sched/sched_process_wait/enable";

std::int64_t median_call_ns() {
  std::array<std::int64_t, calls> took_ns{};
  const pid_t self = ::getpid();  // no child of ours: the call finds nothing, and reaps nobody
  for (std::int64_t& one_ns : took_ns) {
    const std::int64_t begun_ns = monotonic_now_ns();
    static_cast<void>(::waitpid(self, nullptr, WNOHANG));
    one_ns = monotonic_now_ns() - begun_ns;
  }
  const auto middle = took_ns.begin() + calls / 2;
  std::nth_element(took_ns.begin(), middle, took_ns.end());
  return *middle;
}

}  // namespace

std::optional<std::int64_t> measure_event_cost(const TraceInstance& instance, const std::vector<int>& cpus,
                                               const SchedPolicy& policy, const Root& root) {
  std::optional<std::int64_t> cost_ns;
  const ThreadSpec spec{
      cpus, policy.kind == SchedKind::deadline ? SchedPolicy{} : policy, 0, "event cost", {}};
  auto thread = RtThread::start(
      spec,
      [&] {
        static_cast<void>(median_call_ns());
        const std::int64_t without_ns = median_call_ns();
        if (!instance.set(enable, "1") || !instance.set("tracing_on", "1")) return;
        cost_ns = std::max<std::int64_t>(median_call_ns() - without_ns, 0);
      },
      root);
  if (thread) thread->join();
  instance.stop();
  static_cast<void>(instance.set(enable, "0"));
  static_cast<void>(instance.set("trace", ""));  // empties the ring
  return cost_ns;
}

}  // namespace howlate
