// Where the kernel's unbound work may run.
#include "knobs/base/plan.hpp"

namespace howlate {

namespace {

Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto cpus = away_or_list(knob, context, value);
  if (!cpus) return cpus.error();
  return own_file(knob, cpu_mask(*cpus), Form::mask);
}

}  // namespace

extern const Knob knob_workqueue_cpumask;
const Knob knob_workqueue_cpumask = {
    .name = "workqueue_cpumask",
    .summary = "CPUs for the kernel's unbound work",
    .values = "away (from the measuring CPUs) | a list of CPUs",
    .plan = plan,
    .file = "/sys/devices/virtual/workqueue/cpumask",
    .without = "this kernel's unbound work cannot be kept to CPUs",
    .fact = "workqueue.cpumask",
    .fact_kind = FactKind::text,
};

}  // namespace howlate
