#include "cell/choose.hpp"

#include <algorithm>

#include "sys/cpus.hpp"

namespace howlate {

Result<std::vector<int>> choose_cpus(const Cell& cell, const Params& in) {
  const std::vector<int> allowed = read_affinity();
  if (allowed.empty()) return broken("cannot tell on which CPUs this process may run");
  if (!in.is_set("cpus")) return std::vector<int>{allowed.back()};
  if (in.text("cpus") == "all") return allowed;
  auto wanted = parse_cpu_list(in.text("cpus"));
  if (!wanted) return wanted.error();
  if (const Status there = check_cpus_there(*wanted, online_cpus(cell.root())); !there) return there.error();
  const std::vector<int> nameable = nameable_cpus(cell.root());
  for (const int cpu : *wanted)
    if (std::find(nameable.begin(), nameable.end(), cpu) == nameable.end())
      return not_possible(
          "this process may not run on CPU " + std::to_string(cpu) + ", only on " + cpu_list_text(nameable),
          "Choose --cpus from " + cpu_list_text(nameable) + ", or start it outside the cpuset or taskset");
  return wanted;
}

Result<SchedPolicy> policy_that_may(Cell& cell, const SchedPolicy& wanted, bool by_default) {
  const Status may = may_have_policy(wanted, cell.root());
  if (may) return wanted;
  if (!by_default || may.error().code != ExitCode::not_possible) return may.error();
  cell.warn("probe.measured-as-other", "measured as SCHED_OTHER, which any task can delay: " +
                                           may.error().message + "; " + may.error().remedy);
  cell.params().put("policy", "other");
  return SchedPolicy{};
}

}  // namespace howlate
