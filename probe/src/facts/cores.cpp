// The real-time cores beside Linux: Cobalt (Xenomai 3) and EVL (Xenomai 4).
#include "facts/fact.hpp"
#include "sys/gravity.hpp"

namespace howlate {
namespace {

struct CoreFact {
  std::string_view key;
  std::string_view path;
};

constexpr CoreFact cobalt_facts[] = {
    {"cobalt.version", "/proc/xenomai/version"},
    {"cobalt.state", "/sys/module/xenomai/parameters/state"},
    {"cobalt.cpus", "/sys/module/xenomai/parameters/supported_cpus"},  // a mask, as a decimal number
    {"cobalt.allowed_group", "/sys/module/xenomai/parameters/allowed_group"},
    {"cobalt.smi", "/sys/module/xenomai/parameters/smi"},
};
constexpr CoreFact evl_facts[] = {
    {"evl.abi", "/sys/devices/virtual/control/control/abi"},
    {"evl.state", "/sys/devices/virtual/control/control/state"},
    {"evl.cpus", "/sys/devices/virtual/control/control/cpus"},
};

void gather_gravity(const Root& tree, FactList& facts, const std::string& core) {
  const auto gravity = read_gravity(tree, core);
  if (!gravity) return facts.missing(core + ".gravity", gravity.error());
  facts.text(core + ".gravity", gravity_text(*gravity));
}

// "devices: timer=lapic, clock=<Linux clocksource>".
void gather_clock(const Root& tree, FactList& facts) {
  const auto text = tree.read(gravity_file("cobalt"));
  if (!text) return facts.missing("cobalt.clock", text.error());
  for (const std::string& line : parts_of(*text, '\n'))
    if (const std::string word = trimmed(line); word.starts_with("devices:"))
      return facts.text("cobalt.clock", trimmed(word.substr(word.find(':') + 1)));
  facts.absent("cobalt.clock", "the clock's file names no devices");
}

// A kernel without a core has none of this, and says nothing of it. A core that was disabled has its parameters alone.
void gather_cores(const Root& tree, FactList& facts) {
  if (tree.exists("/proc/xenomai") || tree.exists("/sys/module/xenomai/parameters")) {
    for (const CoreFact& fact : cobalt_facts) facts.text_of(fact.key, tree.read_text(fact.path));
    gather_gravity(tree, facts, "cobalt");
    gather_clock(tree, facts);
  }
  if (tree.exists("/dev/evl") || tree.exists("/sys/devices/virtual/control/control")) {
    for (const CoreFact& fact : evl_facts) facts.text_of(fact.key, tree.read_text(fact.path));
    gather_gravity(tree, facts, "evl");
  }
}

}  // namespace

extern const FactGroup fact_cores;
const FactGroup fact_cores = {"cores", gather_cores, true};

}  // namespace howlate
