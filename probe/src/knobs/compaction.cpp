// Proactive compaction: kcompactd moves pages, locked ones too, which flushes TLBs and makes their users fault.
#include "knobs/base/plan.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  return plan_number(knob, value, {0, 100}, "0 to 100");
}

}  // namespace

extern const Knob knob_compaction;
const Knob knob_compaction = {
    .name = "compaction",
    .summary = "how eagerly the kernel moves pages together in the background",
    .values = "0 (not at all) to 100",
    .plan = plan,
    .file = "/proc/sys/vm/compaction_proactiveness",
    .without = "this kernel does not move pages unasked",
    .fact = "memory.compaction",
};

}  // namespace howlate
