// Who chooses the frequency.
#include <algorithm>

#include "core/text.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr std::string_view policies = "/sys/devices/system/cpu/cpufreq";

std::string policy_file(int policy, std::string_view name) {
  return std::string(policies) + "/policy" + std::to_string(policy) + "/" + std::string(name);
}

Status available(const KnobContext& context) {
  const auto numbers = Root(context.root).numbered(policies, "policy");
  if (numbers.empty())
    return not_possible("the kernel does not drive the CPUs' frequency here (no cpufreq policy)");
  return file_available(context, policy_file(numbers.front(), "scaling_governor"), "there is no governor");
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const Root tree(context.root);
  Settings out;
  for (const int policy : tree.numbered(policies, "policy")) {
    const auto text = tree.read_text(policy_file(policy, "scaling_available_governors"));
    if (!text) return text.error();
    const auto names = parts_of(*text, ' ');
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (std::find(known.begin(), known.end(), value) == known.end())
      return unknown_name(knob.name, value, known);
    out.push_back(file_setting(policy_file(policy, "scaling_governor"), std::string(value)));
  }
  return out;
}

}  // namespace

extern const Knob knob_governor;
const Knob knob_governor = {
    .name = "governor",
    .summary = "the frequency governor of every CPU",
    .values = "a governor's name, such as performance",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
