// How CPUs sleep and how fast they run.
#include <algorithm>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/knobs_table.hpp"

namespace howlate {
namespace {

constexpr const char* dma_latency_file = "/dev/cpu_dma_latency";
constexpr const char* policies_folder = "/sys/devices/system/cpu/cpufreq";
constexpr const char* no_turbo_file = "/sys/devices/system/cpu/intel_pstate/no_turbo";
constexpr const char* boost_file = "/sys/devices/system/cpu/cpufreq/boost";

Status dma_latency_available(const KnobContext& context) {
  return file_available(context, dma_latency_file, "this kernel takes no requests for the CPUs' latency");
}

Result<Settings> plan_dma_latency(const KnobContext& /*context*/, std::string_view value) {
  const auto latency = to_integer(value);
  if (!latency || *latency < 0 || *latency > 2'000'000'000) {
    return usage_error(in_quotes(value) + " is no value of the knob cpu_dma_latency",
                       "give microseconds, such as cpu_dma_latency=0");
  }
  Setting setting = file_setting(dma_latency_file, std::to_string(*latency));
  setting.kind = SettingKind::held;
  return Settings{setting};
}

std::string policy_file(int policy, std::string_view name) {
  return std::string(policies_folder) + "/policy" + std::to_string(policy) + "/" + std::string(name);
}

Status governor_available(const KnobContext& context) {
  const auto policies = Tree(context.root).numbered(policies_folder, "policy");
  if (policies.empty())
    return not_possible("the kernel does not drive the CPUs' frequency here (no cpufreq policy)");
  return file_available(context, policy_file(policies.front(), "scaling_governor"), "there is no governor");
}

Result<Settings> plan_governor(const KnobContext& context, std::string_view value) {
  const Tree tree(context.root);
  Settings out;
  for (const int policy : tree.numbered(policies_folder, "policy")) {
    const auto text = tree.read_text(policy_file(policy, "scaling_available_governors"));
    if (!text) return text.error();
    const auto names = parts_of(*text, ' ');
    if (std::find(names.begin(), names.end(), value) == names.end()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      return unknown_name("governor", value, known);
    }
    out.push_back(file_setting(policy_file(policy, "scaling_governor"), std::string(value)));
  }
  return out;
}

Status turbo_available(const KnobContext& context) {
  if (Tree(context.root).exists(no_turbo_file)) return file_available(context, no_turbo_file, "");
  return file_available(context, boost_file, "there is no switch for turbo here");
}

Result<Settings> plan_turbo(const KnobContext& context, std::string_view value) {
  const auto on = on_or_off("turbo", value);
  if (!on) return on.error();
  if (Tree(context.root).exists(no_turbo_file)) return Settings{file_setting(no_turbo_file, *on ? "0" : "1")};
  return Settings{file_setting(boost_file, *on ? "1" : "0")};
}

std::string idle_folder(int cpu) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpuidle";
}

Status c_states_available(const KnobContext& context) {
  const std::string first = idle_folder(online_cpus(context).front()) + "/state0/disable";
  return file_available(context, first, "the kernel knows no idle states to choose from");
}

Result<Settings> plan_c_states(const KnobContext& context, std::string_view value) {
  const auto most = to_integer(value);
  if (!most || *most < 0) {
    return usage_error(in_quotes(value) + " is no value of the knob c_states",
                       "give the longest way out in microseconds, such as c_states=2");
  }
  const Tree tree(context.root);
  Settings out;
  for (const int cpu : online_cpus(context)) {
    for (const int state : tree.numbered(idle_folder(cpu), "state")) {
      const std::string path = idle_folder(cpu) + "/state" + std::to_string(state);
      const auto latency = tree.read_integer(path + "/latency");
      if (!latency) return latency.error();
      if (*latency > *most) out.push_back(file_setting(path + "/disable", "1"));
    }
  }
  return out;
}

}  // namespace

const Knob knob_cpu_dma_latency = {
    "cpu_dma_latency",
    "CPUs may not sleep deeper than they can wake from in this time (held while measuring)",
    "microseconds; 0 keeps them awake", dma_latency_available, plan_dma_latency};
const Knob knob_governor = {"governor", "who chooses the frequency, on every CPU",
                            "a governor's name, such as performance", governor_available, plan_governor};
const Knob knob_turbo = {"turbo", "frequencies above the nominal one", "on | off", turbo_available,
                         plan_turbo};
const Knob knob_c_states = {"c_states", "switch off idle states whose way out takes longer, on every CPU",
                            "microseconds", c_states_available, plan_c_states};

}  // namespace howlate
