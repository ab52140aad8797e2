// What the caller may do, and what its cgroups leave it.
#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "facts/fact.hpp"
#include "sys/cgroups.hpp"
#include "sys/rights.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

// "unlimited" is -1.
Result<long long> soft_limit(const Root& tree, std::string_view name) {
  const auto limits = tree.read_line("/proc/self/limits", name);
  if (!limits) return limits.error();
  const std::string soft = limits->substr(0, limits->find(' '));
  return soft == "unlimited" ? Result<long long>(-1LL) : to_integer(soft);
}

void gather_capabilities(const Root& tree, const Result<std::string>& effective, FactList& facts) {
  const Caller caller = read_caller(tree);
  constexpr std::pair<std::string_view, Capability> known[] = {{"sys_nice", Capability::sys_nice},
                                                               {"ipc_lock", Capability::ipc_lock},
                                                               {"sys_admin", Capability::sys_admin}};
  for (const auto& [name, capability] : known) {
    const std::string key = "caller.cap_" + std::string(name);
    const std::string grantable = "caller.grantable_" + std::string(name);
    effective ? facts.flag(key, caller.has(capability)) : facts.missing(key, effective.error());
    effective ? facts.flag(grantable, caller.can_be_granted(capability))
              : facts.missing(grantable, effective.error());
  }
  const std::pair<std::string_view, bool> others[] = {{"caller.root", caller.root},
                                                      {"caller.user_namespace", caller.user_namespace},
                                                      {"caller.seccomp_filter", caller.filtered}};
  for (const auto& [key, value] : others)
    effective ? facts.flag(key, value) : facts.missing(key, effective.error());
}

void gather_rights(const Root& tree, FactList& facts) {
  constexpr std::string_view status = "/proc/self/status";
  facts.text_of("caller.cpus_allowed", tree.read_line(status, "Cpus_allowed_list:"));
  facts.integer_of("caller.limit_rtprio", soft_limit(tree, "Max realtime priority"));
  facts.integer_of("caller.limit_memlock", soft_limit(tree, "Max locked memory"));
  facts.text_of("caller.program", tree.read_link("/proc/self/exe"));
  gather_capabilities(tree, tree.read_line(status, "CapEff:"), facts);
  if (tree.is_machine())
    facts.flag("caller.real_time",
               static_cast<bool>(may_have_policy({.kind = SchedKind::fifo, .priority = 1}, tree)));
  else
    facts.missing("caller.real_time", "this is not a machine that runs");
}

struct Quota {
  long long quota_us;
  long long period_us;
};

std::optional<Quota> unified_quota(const Root& tree, const std::string& folder) {
  const auto text = tree.read_text(folder + "/cpu.max");
  const auto words = text ? parts_of(*text, ' ') : std::vector<std::string>{};
  if (words.size() != 2 || words[0] == "max") return {};
  const auto quota = to_integer(words[0]);
  const auto period = to_integer(words[1]);
  if (!quota || !period || *period <= 0) return {};
  return Quota{*quota, *period};
}

std::optional<Quota> legacy_quota(const Root& tree, const std::string& folder) {
  const auto quota = tree.read_integer(folder + "/cpu.cfs_quota_us");
  const auto period = tree.read_integer(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota < 0 || *period <= 0) return {};
  return Quota{*quota, *period};
}

// The tightest of the caller's cgroup and its ancestors; -1 where none has one.
void gather_quota(const Root& tree, const Cgroups& cgroups, FactList& facts) {
  std::optional<Quota> tightest;
  const auto tighten = [&](const std::optional<Quota>& found) {
    if (found &&
        (!tightest || found->quota_us * tightest->period_us < tightest->quota_us * found->period_us)) {
      tightest = found;
    }
  };
  for (const std::string& folder : cgroups.way_up("cpu", true)) tighten(unified_quota(tree, folder));
  for (const std::string& folder : cgroups.way_up("cpu", false)) tighten(legacy_quota(tree, folder));
  facts.integer("cgroup.cpu_quota_us", tightest ? tightest->quota_us : -1);
  facts.integer("cgroup.cpu_period_us", tightest ? tightest->period_us : -1);
}

// The share that RT_GROUP_SCHED leaves the real-time tasks of the caller's own cgroup (v1 only).
void gather_real_time_share(const Root& tree, const Cgroups& cgroups, FactList& facts) {
  const auto way = cgroups.way_up("cpu", false);
  if (way.empty())
    return facts.absent("cgroup.rt_runtime_us", "there is no cgroup v1 with the cpu controller");
  const auto runtime = tree.read_integer(way.front() + "/cpu.rt_runtime_us");
  runtime ? facts.integer("cgroup.rt_runtime_us", *runtime)
          : facts.absent("cgroup.rt_runtime_us", "the cpu controller has no cpu.rt_runtime_us");
}

void gather_cpuset(const Root& tree, const Cgroups& cgroups, FactList& facts) {
  for (const bool unified : {true, false}) {
    const auto way = cgroups.way_up("cpuset", unified);
    for (const std::string& folder : way) {
      const auto cpus =
          tree.read_text(folder + (unified ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus"));
      if (!cpus) continue;
      facts.text("cgroup.cpuset", *cpus);
      const auto partition = tree.read_text(folder + "/cpuset.cpus.partition");
      const auto exclusive = tree.read_integer(folder + "/cpuset.cpu_exclusive");
      facts.text("cgroup.partition", partition                                              ? *partition
                                     : folder != way.back() && exclusive && *exclusive != 0 ? "exclusive"
                                                                                            : "member");
      return;
    }
  }
  for (const auto key : {"cgroup.cpuset", "cgroup.partition"})
    facts.absent(key, "no cpuset controller is in force");
}

void gather_caller(const Root& tree, FactList& facts) {
  gather_rights(tree, facts);
  const Cgroups cgroups(tree);
  if (!cgroups.readable()) {
    for (const auto key : {"cgroup.version", "cgroup.cpu_quota_us", "cgroup.cpu_period_us",
                           "cgroup.rt_runtime_us", "cgroup.cpuset", "cgroup.partition"}) {
      facts.missing(key, "/proc/self/cgroup cannot be read");
    }
    return;
  }
  facts.text("cgroup.version", cgroups.version());
  gather_quota(tree, cgroups, facts);
  gather_real_time_share(tree, cgroups, facts);
  gather_cpuset(tree, cgroups, facts);
}

}  // namespace

extern const FactGroup fact_caller;
const FactGroup fact_caller = {"caller", gather_caller};

}  // namespace howlate
