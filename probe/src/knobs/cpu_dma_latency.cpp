// How deep CPUs may sleep, asked for through the kernel's quality-of-service device.
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  const auto latency = to_integer(value);
  if (!latency || *latency < 0 || *latency > 2'000'000'000)
    return no_value(knob, value, "give microseconds, such as cpu_dma_latency=0");
  Settings out = own_file(knob, std::to_string(*latency));
  out.front().kind = SettingKind::held;
  return out;
}

}  // namespace

extern const Knob knob_cpu_dma_latency;
const Knob knob_cpu_dma_latency = {
    .name = "cpu_dma_latency",
    .summary = "keep CPUs out of idle states with a longer exit latency (held while measuring)",
    .values = "microseconds; 0 keeps them awake",
    .plan = plan,
    .file = "/dev/cpu_dma_latency",
    .without = "this kernel takes no requests for the CPUs' latency",
};

}  // namespace howlate
