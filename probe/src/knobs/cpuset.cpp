// A set of CPUs for the measuring threads alone, with a root domain of its own: what SCHED_DEADLINE needs to
// be pinned.
#include <unistd.h>

#include <algorithm>

#include "core/params.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

// Where a hierarchy with the cpuset controller is mounted; "" if there is none.
std::string mount_point(const Root& tree, std::string_view type, std::string_view controller) {
  const auto text = tree.read("/proc/self/mounts");
  for (const std::string& line : text ? parts_of(*text, '\n') : std::vector<std::string>{}) {
    const auto words = parts_of(line, ' ');
    if (words.size() < 4 || words[2] != type) continue;
    const auto options = parts_of(words[3], ',');
    if (controller.empty() || std::find(options.begin(), options.end(), controller) != options.end())
      return words[1];
  }
  return {};
}

bool unified_has_cpuset(const Root& tree, const std::string& mount) {
  const auto text = tree.read_text(mount + "/cgroup.controllers");
  const auto names = text ? parts_of(*text, ' ') : std::vector<std::string>{};
  return std::find(names.begin(), names.end(), "cpuset") != names.end();
}

Status available(const KnobContext& context) {
  const Root tree(context.root);
  if (const std::string legacy = mount_point(tree, "cgroup", "cpuset"); !legacy.empty()) {
    return file_available(context, legacy + "/cpuset.sched_load_balance",
                          "the cpuset hierarchy is not whole");
  }
  const std::string unified = mount_point(tree, "cgroup2", "");
  if (unified.empty() || !unified_has_cpuset(tree, unified)) {
    return not_possible("no cgroup hierarchy with the cpuset controller is mounted");
  }
  return file_available(context, unified + "/cgroup.subtree_control",
                        "the cgroup hierarchy cannot be divided here");
}

Setting folder_setting(std::string path) {
  Setting out;
  out.kind = SettingKind::folder;
  out.path = std::move(path);
  return out;
}

Setting inside(std::string path, std::string wanted, Form form = Form::exact) {
  Setting out = file_setting(std::move(path), std::move(wanted), form);
  out.inside = true;
  return out;
}

// Two exclusive sets below a root that no longer balances: the measuring CPUs, and the rest, so that the
// others are still balanced among themselves.
Settings plan_legacy(const Root& tree, const std::string& mount, const std::vector<int>& cpus,
                     const std::vector<int>& rest) {
  const auto memory = tree.read_text(mount + "/cpuset.mems");
  const std::string nodes = memory ? *memory : "0";
  const std::string name = mount + "/howlate-" + std::to_string(::getpid());
  Settings out;
  for (const auto& [folder, members] : {std::pair{name, cpus}, std::pair{name + "-rest", rest}}) {
    if (members.empty()) continue;
    out.push_back(folder_setting(folder));
    out.push_back(inside(folder + "/cpuset.mems", nodes, Form::cpus));
    out.push_back(inside(folder + "/cpuset.cpus", cpu_list_text(members), Form::cpus));
    out.push_back(inside(folder + "/cpuset.cpu_exclusive", "1"));
  }
  out.push_back(file_setting(mount + "/cpuset.sched_load_balance", "0"));
  return out;
}

Settings plan_unified(const std::string& mount, const std::vector<int>& cpus) {
  const std::string folder = mount + "/howlate-" + std::to_string(::getpid());
  return {file_setting(mount + "/cgroup.subtree_control", "+cpuset", Form::controller),
          folder_setting(folder), inside(folder + "/cpuset.cpus", cpu_list_text(cpus), Form::cpus),
          inside(folder + "/cpuset.cpus.partition", "root")};
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  if (value == "away") return no_value(knob, value, "give a list of CPUs");
  const auto cpus = away_or_list(knob, context, value);
  if (!cpus) return cpus.error();
  std::vector<int> rest;
  for (const int cpu : online_cpus(context)) {
    if (!std::binary_search(cpus->begin(), cpus->end(), cpu)) rest.push_back(cpu);
  }
  if (rest.empty()) {
    return not_possible("the knob cpuset leaves no CPU to the rest of the machine", "give fewer CPUs");
  }
  const Root tree(context.root);
  const std::string legacy = mount_point(tree, "cgroup", "cpuset");
  if (!legacy.empty()) return plan_legacy(tree, legacy, *cpus, rest);
  return plan_unified(mount_point(tree, "cgroup2", ""), *cpus);
}

}  // namespace

extern const Knob knob_cpuset;
const Knob knob_cpuset = {
    .name = "cpuset",
    .summary = "an exclusive set of CPUs for the measuring threads (SCHED_DEADLINE can be pinned in it)",
    .values = "a list of CPUs",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
