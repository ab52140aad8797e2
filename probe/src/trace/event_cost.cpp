#include "trace/event_cost.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "sys/clock.hpp"
#include "sys/thread.hpp"

namespace howlate {

namespace {

constexpr std::size_t groups = 101;
constexpr int calls = 3;
constexpr std::int64_t pause_ns = 200'000;

// Of a group of calls after a pause, as events come in a wake-up: the first finds cold caches, the others do not.
std::int64_t median_group_ns() {
  std::array<std::int64_t, groups> took_ns{};
  const pid_t self = ::getpid();  // no child of ours: the call finds nothing, and reaps nobody
  for (std::int64_t& one_ns : took_ns) {
    sleep_until_ns(monotonic_now_ns() + pause_ns);
    const std::int64_t begun_ns = monotonic_now_ns();
    for (int call = 0; call < calls; ++call) static_cast<void>(::waitpid(self, nullptr, WNOHANG));
    one_ns = monotonic_now_ns() - begun_ns;
  }
  const auto middle = took_ns.begin() + groups / 2;
  std::nth_element(took_ns.begin(), middle, took_ns.end());
  return *middle;
}

}  // namespace

std::optional<std::int64_t> measure_event_cost(const std::function<bool()>& record,
                                               const std::vector<int>& cpus, const SchedPolicy& policy,
                                               const Root& root) {
  std::optional<std::int64_t> cost_ns;
  const ThreadSpec spec{
      cpus, policy.kind == SchedKind::deadline ? SchedPolicy{} : policy, 0, "event cost", {}};
  auto thread = RtThread::start(
      spec,
      [&] {
        static_cast<void>(median_group_ns());
        const std::int64_t without_ns = median_group_ns();
        if (!record()) return;
        cost_ns = std::max<std::int64_t>(median_group_ns() - without_ns, 0) / calls;
      },
      root);
  if (thread) thread->join();
  return cost_ns;
}

}  // namespace howlate
