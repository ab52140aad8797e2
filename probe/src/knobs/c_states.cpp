// Which idle states CPUs may enter.
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

std::string idle_folder(int cpu) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpuidle";
}

Status available(const KnobContext& context) {
  const std::string first = idle_folder(online_cpus(context).front()) + "/state0/disable";
  return file_available(context, first, "the kernel knows no idle states to choose from");
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto most = to_integer(value);
  if (!most || *most < 0)
    return no_value(knob, value, "give the longest way out in microseconds, such as c_states=2");
  const Root tree(context.root);
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

extern const Knob knob_c_states;
const Knob knob_c_states = {
    .name = "c_states",
    .summary = "switch off idle states with a longer exit latency, on every CPU",
    .values = "microseconds",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
