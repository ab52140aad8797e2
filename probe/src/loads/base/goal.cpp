#include "loads/base/goal.hpp"

#include <algorithm>
#include <cstdio>

#include "core/text.hpp"

namespace howlate {
namespace {

constexpr std::string_view cpu_unit = "CPU", bytes_unit = "B/s";

std::string formatted(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Bytes with three digits and the letter of a thousand, a million or a thousand million; other things counted.
std::string amount_text(double value, const std::string& unit) {
  if (unit != bytes_unit) return formatted(value < 10 ? "%.2g " : "%.0f ", value) + unit;
  constexpr struct {
    double from;
    const char* letter;
  } scales[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& scale : scales)
    if (value >= scale.from) return formatted("%.3g ", value / scale.from) + scale.letter + unit;
  return formatted("%.3g ", value) + unit;
}

std::string lasted_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  return ns < 1'000'000'000 ? formatted("%.3g ms", value / 1e6) : formatted("%.3g s", value / 1e9);
}

double number_of(const Params& params, ParamType type) {
  if (type == ParamType::percent) return params.real("target");
  if (type != ParamType::text) return static_cast<double>(params.integer("target"));
  const Result<std::int64_t> number = parse_count(params.text("target"));
  return number ? static_cast<double>(*number) : 0.0;
}

}  // namespace

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent == 0 || percent >= 9.95) return formatted("%.0f %%", percent);
  return formatted(percent >= 0.95 ? "%.1f %%" : "%.1g %%", percent);
}

std::optional<double> Goal::expected() const {
  if (!target) return reference;
  return reference ? std::min(*target, *reference) : *target;
}

std::optional<double> Goal::share() const {
  const std::optional<double> wanted = expected();
  if (!wanted || *wanted <= 0) return std::nullopt;
  return achieved / *wanted;
}

std::string Goal::not_loaded(std::string_view spec) const {
  if (unit.empty() || (target && *target <= 0)) return {};
  const std::string who = "not loaded: the load " + std::string(spec);
  const std::optional<double> part = share();
  if (!part || *part >= loaded_share_min) {
    if (actions != 0) return {};
    return who + " completed no " + action + " in the " + lasted_text(duration_ns) + " of the cell";
  }
  const bool against_itself = !target || (reference && *reference < *target);
  const std::string beside = against_itself ? " with nothing measured beside it" : " were asked for";
  if (unit == cpu_unit)
    return who + " achieved " + percent_text(achieved) + " of its CPUs, " + percent_text(*expected()) +
           beside;
  return who + " achieved " + amount_text(achieved, unit) + ", " + amount_text(*expected(), unit) + beside;
}

void Goal::write(JsonWriter& json) const {
  const auto member = [&json](std::string_view name, const std::optional<double>& value) {
    json.key(name);
    if (value) {
      json.value(*value);
    } else {
      json.null();
    }
  };
  json.begin_object().member("unit", unit);
  member("target", target);
  member("reference", reference);
  json.member("achieved", achieved);
  member("share", share());
  json.member("deed", action).member("deeds", actions).end_object();
}

bool asks_for_all(const Load& load, const Params& params) {
  if (load.alone.empty() || load.alone == "*") return !load.alone.empty();
  const auto words = split(load.alone, '|');
  return std::find(words.begin(), words.end(), params.text("target")) != words.end();
}

Goal goal_of(const Load& load, const Params& params) {
  Goal goal;
  if (load.spread == Spread::none) return goal;
  goal.unit = load.held ? std::string(cpu_unit) : std::string(load.unit) + "/s";
  goal.action = load.action.counted ? load.action.name : load.unit;
  if (asks_for_all(load, params)) return goal;
  const double number = number_of(params, load.target.type);
  goal.target = load.held ? number / 100 : number;
  return goal;
}

}  // namespace howlate
