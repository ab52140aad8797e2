// Transparent huge pages.
#include "knobs/base/plan.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  if (value != "always" && value != "madvise" && value != "never")
    return no_value(knob, value, "give always, madvise or never");
  return own_file(knob, std::string(value), Form::bracketed);
}

}  // namespace

extern const Knob knob_thp;
const Knob knob_thp = {
    .name = "thp",
    .summary = "transparent huge pages",
    .values = "always | madvise | never",
    .plan = plan,
    .file = "/sys/kernel/mm/transparent_hugepage/enabled",
    .without = "this kernel has no transparent huge pages",
    .fact = "memory.thp",
    .fact_kind = FactKind::text,
};

}  // namespace howlate
