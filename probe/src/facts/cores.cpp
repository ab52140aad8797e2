// The real-time cores beside Linux: Cobalt (Xenomai 3) and EVL (Xenomai 4).
#include <algorithm>
#include <cerrno>

#include "facts/fact.hpp"
#include "sys/core_state.hpp"
#include "sys/file.hpp"
#include "sys/gravity.hpp"

namespace howlate {
namespace {

struct CoreFact {
  std::string_view key;
  std::string_view path;
};

constexpr CoreFact core_facts[] = {
    {"cobalt.version", "/proc/xenomai/version"},
    {"cobalt.cpus", "/sys/module/xenomai/parameters/supported_cpus"},  // a mask, as a decimal number
    {"cobalt.smi", "/sys/module/xenomai/parameters/smi"},
    {"evl.abi", "/sys/devices/virtual/evl/control/abi"},
    {"evl.cpus", "/sys/devices/virtual/evl/control/cpus"},
};

void gather_gravity(const Root& tree, FactList& facts, const std::string& core) {
  const auto gravity = read_gravity(tree, core);
  gravity ? facts.text(core + ".gravity", gravity_text(*gravity))
          : facts.missing(core + ".gravity", gravity.error());
}

// "devices: timer=lapic, clock=<Linux clocksource>".
Result<std::string> clock_devices(const Root& tree) {
  const auto text = read_cobalt_clock(tree);
  if (!text) return text.error();
  for (const std::string& line : parts_of(*text, '\n'))
    if (const std::string word = trimmed(line); word.starts_with("devices:"))
      return trimmed(word.substr(word.find(':') + 1));
  return broken("the clock's file names no devices");
}

// EVL takes the time from the clock source that Linux has.
Result<std::string> evl_clock(const Root& tree) {
  if (auto core = tree.read_text(gravity_file("evl")); !core) return core;
  const auto source = tree.read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source ? "monotonic, clock=" + *source : source;
}

// Whether Cobalt admits the caller for the group's sake; not without such a group.
void gather_group(const Root& tree, FactList& facts) {
  constexpr std::string_view key = "cobalt.caller_in_group";
  const auto allowed = tree.read_integer("/sys/module/xenomai/parameters/allowed_group");
  if (!allowed) return facts.missing(key, allowed.error());
  const auto groups = tree.read_line("/proc/self/status", "Groups:");
  if (!groups) return facts.missing(key, groups.error());
  const auto words = parts_of(trimmed(*groups), ' ');
  facts.flag(key, std::find(words.begin(), words.end(), std::to_string(*allowed)) != words.end());
}

// Whether the rights of Cobalt's devices let the caller in; not where there are none.
void gather_devices(const Root& tree, FactList& facts) {
  constexpr std::string_view key = "cobalt.caller_admitted";
  if (tree.exists("/dev/rtdm/memdev-private") || tree.exists("/dev/rtdm/memdev-shared"))
    return facts.flag(key, cobalt_admits_caller(tree).ok());
  facts.missing(key,
                Error{ExitCode::not_possible, "/dev/rtdm/memdev-private: " + errno_text(ENOENT), {}, true});
}

// Whether the effective user has a name in /etc/passwd, for which Alchemy asks when it starts. Without that file nobody has one.
void gather_name(const Root& tree, FactList& facts) {
  constexpr std::string_view key = "caller.named";
  const auto uids = tree.read_line("/proc/self/status", "Uid:");  // real, effective, saved, of files
  if (!uids) return facts.missing(key, uids.error());
  const auto words = parts_of(*uids, '\t');
  if (words.size() < 2) return facts.missing(key, broken("/proc/self/status names no effective user"));
  const std::string& uid = words[1];
  const auto users = tree.read("/etc/passwd");
  if (!users && !users.error().absent) return facts.missing(key, users.error());
  const auto lines = parts_of(users.value_or(""), '\n');
  facts.flag(key, std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
               const auto name_end = line.find(':');
               const auto id = name_end == std::string::npos ? name_end : line.find(':', name_end + 1);
               return id != std::string::npos && line.compare(id + 1, uid.size() + 1, uid + ":") == 0;
             }));
}

void gather_cores(const Root& tree, FactList& facts) {
  for (const CoreFact& fact : core_facts) facts.text_of(fact.key, tree.read_text(fact.path));
  for (const std::string core : {"cobalt", "evl"}) {
    facts.text_of(core + ".state", read_core_state(tree, core));
    gather_gravity(tree, facts, core);
  }
  facts.text_of("cobalt.clock", clock_devices(tree));
  facts.text_of("evl.clock", evl_clock(tree));
  const auto admitted = evl_admits_caller(tree);
  admitted ? facts.flag("evl.caller_admitted", *admitted)
           : facts.missing("evl.caller_admitted", admitted.error());
  gather_group(tree, facts);
  gather_devices(tree, facts);
  gather_name(tree, facts);
}

}  // namespace

extern const FactGroup fact_cores;
const FactGroup fact_cores = {"cores", gather_cores};

}  // namespace howlate
