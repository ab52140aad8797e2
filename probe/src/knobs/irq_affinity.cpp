// Where device interrupts go.
#include <algorithm>

#include "core/params.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "sys/setting.hpp"

namespace howlate {

namespace {

// An interrupt that goes to none of the measuring CPUs is left where it is.
Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto cpus = away_or_list(knob, context, value);
  if (!cpus) return cpus.error();
  const Root tree(context.root);
  Settings out = own_file(knob, cpu_mask(*cpus), Form::mask);
  for (const int irq : tree.numbered("/proc/irq", "")) {
    const std::string path = "/proc/irq/" + std::to_string(irq) + "/smp_affinity_list";
    const auto text = read_setting(tree, Form::cpus, path, {});
    const auto now = parse_cpu_list(text ? *text : "");
    if (!text || !now) continue;  // went meanwhile
    if (std::includes(cpus->begin(), cpus->end(), now->begin(), now->end())) continue;
    Setting setting = file_setting(path, cpu_list_text(*cpus), Form::cpus);
    setting.may_refuse = true;
    out.push_back(std::move(setting));
  }
  return out;
}

}  // namespace

extern const Knob knob_irq_affinity;
const Knob knob_irq_affinity = {
    .name = "irq_affinity",
    .summary = "CPUs for device interrupts, as far as these can be moved",
    .values = "away (from the measuring CPUs) | a list of CPUs",
    .plan = plan,
    .file = "/proc/irq/default_smp_affinity",
    .without = "interrupts cannot be moved on this kernel",
    .fact = "irq.default_affinity",
    .fact_kind = FactKind::text,
};

}  // namespace howlate
