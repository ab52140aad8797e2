// What the fair server keeps for ordinary tasks where real-time tasks fill a CPU (Linux 6.12, kernel/sched/debug.c).
#include "core/text.hpp"
#include "knobs/base/debugfs.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr std::string_view folder = "/sys/kernel/debug/sched/fair_server";

std::string file_of(int cpu, std::string_view name) {
  return std::string(folder) + "/cpu" + std::to_string(cpu) + "/" + std::string(name);
}

Status available(const KnobContext& context) {
  const auto cpus = Root(context.root).numbered(folder, "cpu");
  return debugfs_available(context, cpus.empty() ? std::string(folder) : file_of(cpus.front(), "runtime"),
                           "this kernel has no fair server");
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const Root tree(context.root);
  const auto runtime_us = to_integer(value == "off" ? "0" : value);
  Settings out;
  for (const int cpu : tree.numbered(folder, "cpu")) {
    const auto period_ns = tree.read_integer(file_of(cpu, "period"));
    if (!runtime_us || *runtime_us < 0 || (period_ns && *runtime_us > *period_ns / 1000))
      return no_value(knob, value,
                      "give off, or microseconds up to the period (" +
                          (period_ns ? std::to_string(*period_ns / 1000) : "?") + ")");
    out.push_back(file_setting(file_of(cpu, "runtime"), std::to_string(*runtime_us * 1000)));
  }
  return out;
}

}  // namespace

extern const Knob knob_fair_server;
const Knob knob_fair_server = {
    .name = "fair_server",
    .summary = "the time that each CPU keeps for ordinary tasks in each period (Linux 6.12)",
    .values = "off | microseconds a period",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
