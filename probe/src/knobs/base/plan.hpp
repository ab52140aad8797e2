// What the plans of knobs share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knobs/knob.hpp"

namespace howlate {

Setting file_setting(std::string_view path, std::string wanted, Form form = Form::exact);
// The knob's own file, with this value.
Settings own_file(const Knob& knob, std::string wanted, Form form = Form::exact);
// A plan for a knob whose file holds 1 for on and 0 for off.
Result<Settings> plan_on_or_off(const Knob& knob, const KnobContext& context, std::string_view value);

// A plan for a knob whose file holds a whole number; `wanted` is what to give, for the one who gave another.
Result<Settings> plan_number(const Knob& knob, std::string_view value,
                             std::pair<std::int64_t, std::int64_t> limits, std::string_view wanted);

// Whether the file exists and may be written. `without` is the sentence for a missing file.
Status file_available(const KnobContext& context, std::string_view path, std::string_view without);
// The usage error about a value that the knob does not have. `remedy` names valid ones.
Error no_value(const Knob& knob, std::string_view value, std::string remedy);
Result<bool> on_or_off(const Knob& knob, std::string_view value);
std::vector<int> online_cpus(const KnobContext& context);
// "away": all online CPUs but the measuring ones; otherwise the given list. Never empty.
Result<std::vector<int>> away_or_list(const Knob& knob, const KnobContext& context, std::string_view value);

}  // namespace howlate
