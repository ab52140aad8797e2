// Where PREEMPT_DYNAMIC lets the kernel's own work be preempted.
#include <algorithm>

#include "core/text.hpp"
#include "knobs/base/debugfs.hpp"
#include "knobs/base/plan.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr std::string_view file = "/sys/kernel/debug/sched/preempt";

Status available(const KnobContext& context) {
  return debugfs_available(context, file, "this kernel's preemption was fixed when it was built");
}

// The kernel lists the models that it has, and marks the one in force: "none voluntary (full)".
Result<Settings> plan(const Knob& knob, const KnobContext& context, std::string_view value) {
  const auto text = Root(context.root).read_text(std::string(file));
  if (!text) return text.error();
  std::vector<std::string> names = parts_of(*text, ' ');
  for (std::string& name : names)
    std::erase_if(name, [](char letter) { return letter == '(' || letter == ')'; });
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (std::find(known.begin(), known.end(), value) == known.end())
    return unknown_name(knob.name, value, known);
  return Settings{file_setting(file, std::string(value), Form::bracketed)};
}

}  // namespace

extern const Knob knob_preemption;
const Knob knob_preemption = {
    .name = "preemption",
    .summary = "where the kernel's own work may be preempted (PREEMPT_DYNAMIC)",
    .values = "none | voluntary | full | lazy, as far as the kernel has them",
    .plan = plan,
    .availability = available,
};

}  // namespace howlate
