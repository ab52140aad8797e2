// Frequencies above the nominal one.
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr std::string_view no_turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo";
constexpr std::string_view boost = "/sys/devices/system/cpu/cpufreq/boost";

Status available(const KnobContext& context) {
  const bool intel = Root(context.root).exists(no_turbo);
  return file_available(context, intel ? no_turbo : boost, "there is no switch for turbo here");
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto on = on_or_off(knob, value);
  if (!on) return on.error();
  if (Root(context.root).exists(no_turbo)) return Settings{file_setting(no_turbo, *on ? "0" : "1")};
  return Settings{file_setting(boost, *on ? "1" : "0")};
}

}  // namespace

extern const Knob knob_turbo;
const Knob knob_turbo = {
    .name = "turbo",
    .summary = "frequencies above the nominal one",
    .values = "on | off",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
