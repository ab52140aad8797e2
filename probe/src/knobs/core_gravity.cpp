// By how much a real-time core beside Linux (Cobalt, EVL) programs its timers ahead of their dates. 0 shows the core's latencies as they are.
#include "core/text.hpp"
#include "knobs/base/plan.hpp"
#include "sys/core_state.hpp"
#include "sys/gravity.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr std::string_view without = "this kernel has no real-time core beside Linux";

// The file of the core that is there; Cobalt's where none is.
std::string_view file_of(const KnobContext& context) {
  const std::string_view evl = gravity_file("evl");
  return Root(context.root).exists(evl) ? evl : gravity_file("cobalt");
}

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto gravity_ns = to_integer(value);
  if (!gravity_ns || *gravity_ns < 0 || *gravity_ns > 1'000'000)
    return no_value(knob, value, "give nanoseconds from 0 to 1000000");
  const Gravity wanted{*gravity_ns, *gravity_ns, *gravity_ns};
  return Settings{file_setting(file_of(context), gravity_text(wanted), Form::gravity)};
}

Status availability(const KnobContext& context) {
  const Root root(context.root);
  for (const std::string_view core : {"cobalt", "evl"})
    if (Status runs = core_runs(root, core); !runs && read_core_state(root, core)) return runs;
  return file_available(context, file_of(context), without);
}

}  // namespace

extern const Knob knob_core_gravity;
const Knob knob_core_gravity = {
    .name = "core_gravity",
    .summary = "by how much Cobalt or EVL programs its timers ahead of their dates",
    .values = "0 | nanoseconds",
    .plan = plan,
    .availability = availability,
};

}  // namespace howlate
