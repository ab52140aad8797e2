#include "knobs/base/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/rights.hpp"
namespace howlate {

Status Knob::available(const KnobContext& context) const {
  return availability != nullptr ? availability(context) : file_available(context, file, without);
}

Setting file_setting(std::string_view path, std::string wanted, Form form) {
  Setting out;
  out.path = path;
  out.wanted = std::move(wanted);
  out.form = form;
  return out;
}

Settings own_file(const Knob& knob, std::string wanted, Form form) {
  return {file_setting(knob.file, std::move(wanted), form)};
}

Result<Settings> plan_on_or_off(const Knob& knob, const KnobContext& /*context*/, std::string_view value) {
  const auto on = on_or_off(knob, value);
  if (!on) return on.error();
  return own_file(knob, *on ? "1" : "0");
}

Result<Settings> plan_number(const Knob& knob, std::string_view value,
                             std::pair<std::int64_t, std::int64_t> limits, std::string_view wanted) {
  const auto number = to_integer(value);
  if (!number || *number < limits.first || *number > limits.second)
    return no_value(knob, value, "give " + std::string(wanted));
  return own_file(knob, std::to_string(*number));
}

Status file_available(const KnobContext& context, std::string_view path, std::string_view without) {
  const Root tree(context.root);
  const std::string file(path);
  if (!tree.exists(file)) return not_possible(std::string(without) + " (" + file + " is not there)");
  if (::access(tree.at(file).c_str(), W_OK) == 0) return {};
  const int error = errno;
  return not_possible(file + " may not be written: " + errno_text(error),
                      error == EROFS ? "it is mounted read-only here, as in a container: set it on the host"
                                     : remedy_of_root());
}

Error no_value(const Knob& knob, std::string_view value, std::string remedy) {
  return usage_error(in_quotes(value) + " is no value of the knob " + std::string(knob.name),
                     std::move(remedy));
}

Result<bool> on_or_off(const Knob& knob, std::string_view value) {
  if (value == "on" || value == "1") return true;
  if (value == "off" || value == "0") return false;
  const std::string name(knob.name);
  return no_value(knob, value, "give " + name + "=on or " + name + "=off");
}

std::vector<int> online_cpus(const KnobContext& context) {
  const auto text = Root(context.root).read_text("/sys/devices/system/cpu/online");
  const auto cpus = parse_cpu_list(text ? *text : "0");
  return cpus ? *cpus : std::vector<int>{0};
}

Result<std::vector<int>> away_or_list(const Knob& knob, const KnobContext& context, std::string_view value) {
  const std::string name(knob.name);
  const std::vector<int> online = online_cpus(context);
  if (value != "away") {
    auto cpus = parse_cpu_list(value);
    if (!cpus) return cpus.error();
    for (const int cpu : *cpus) {
      if (std::find(online.begin(), online.end(), cpu) == online.end()) {
        return usage_error("CPU " + std::to_string(cpu) + " of " + name + " is not online",
                           "choose from /sys/devices/system/cpu/online");
      }
    }
    if (cpus->empty()) return usage_error(name + " needs at least one CPU", "give a list such as 0-1");
    return cpus;
  }
  if (context.measuring_cpus.empty()) {
    return usage_error(name + "=away needs to know the measuring CPUs",
                       "give --cpus, or a list of CPUs as the value");
  }
  std::vector<int> rest;
  for (const int cpu : online) {
    const auto& measuring = context.measuring_cpus;
    if (std::find(measuring.begin(), measuring.end(), cpu) == measuring.end()) rest.push_back(cpu);
  }
  if (rest.empty()) {
    return not_possible(name + "=away leaves no CPU: all that are online measure", "measure on fewer CPUs");
  }
  return rest;
}

}  // namespace howlate
