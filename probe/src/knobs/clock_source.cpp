// The clock that every time stamp and every timer reads.
#include <algorithm>

#include "core/text.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto text =
      Root(context.root).read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (!text) return text.error();
  const auto names = parts_of(*text, ' ');
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (std::find(known.begin(), known.end(), value) == known.end())
    return unknown_name(knob.name, value, known);
  return own_file(knob, std::string(value));
}

}  // namespace

extern const Knob knob_clock_source;
const Knob knob_clock_source = {
    .name = "clock_source",
    .summary = "the clock that time stamps and timers read",
    .values = "a clock source's name, such as tsc",
    .plan = plan,
    .file = "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    .without = "this kernel's clock source cannot be chosen",
    .fact = "clock.source",
    .fact_kind = FactKind::text,
};

}  // namespace howlate
