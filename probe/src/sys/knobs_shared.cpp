#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/knobs_table.hpp"

namespace howlate {

Setting file_setting(std::string path, std::string wanted, Form form) {
  Setting out;
  out.path = std::move(path);
  out.wanted = std::move(wanted);
  out.form = form;
  return out;
}

Status file_available(const KnobContext& context, const std::string& path, std::string_view without) {
  const Tree tree(context.root);
  if (!tree.exists(path)) return not_possible(std::string(without) + " (" + path + " is not there)");
  if (::access(tree.at(path).c_str(), W_OK) == 0) return {};
  const int error = errno;
  return not_possible(path + " may not be written: " + errno_text(error),
                      error == EROFS ? "it is mounted read-only here, as in a container: set it on the host"
                      : ::geteuid() == 0 ? "the kernel does not let it be changed here"
                                         : "run as root");
}

Result<bool> on_or_off(std::string_view name, std::string_view value) {
  if (value == "on" || value == "1") return true;
  if (value == "off" || value == "0") return false;
  return usage_error(in_quotes(value) + " is no value of the knob " + std::string(name),
                     "give " + std::string(name) + "=on or " + std::string(name) + "=off");
}

std::vector<int> online_cpus(const KnobContext& context) {
  const auto text = Tree(context.root).read_text("/sys/devices/system/cpu/online");
  const auto cpus = parse_cpu_list(text ? *text : "0");
  return cpus ? *cpus : std::vector<int>{0};
}

Result<std::vector<int>> away_or_list(const KnobContext& context, std::string_view name,
                                      std::string_view value) {
  const std::vector<int> online = online_cpus(context);
  if (value != "away") {
    auto cpus = parse_cpu_list(value);
    if (!cpus) return cpus.error();
    for (const int cpu : *cpus) {
      if (std::find(online.begin(), online.end(), cpu) == online.end()) {
        return usage_error("CPU " + std::to_string(cpu) + " of " + std::string(name) + " is not online",
                           "choose from /sys/devices/system/cpu/online");
      }
    }
    if (cpus->empty())
      return usage_error(std::string(name) + " needs at least one CPU", "give a list such as 0-1");
    return cpus;
  }
  if (context.measuring_cpus.empty()) {
    return usage_error(std::string(name) + "=away needs to know the measuring CPUs",
                       "give --cpus, or a list of CPUs as the value");
  }
  std::vector<int> rest;
  for (const int cpu : online) {
    const auto& measuring = context.measuring_cpus;
    if (std::find(measuring.begin(), measuring.end(), cpu) == measuring.end()) rest.push_back(cpu);
  }
  if (rest.empty()) {
    return not_possible(std::string(name) + "=away leaves no CPU: all that are online measure",
                        "measure on fewer CPUs");
  }
  return rest;
}

}  // namespace howlate
