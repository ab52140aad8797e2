// What this machine is and how it is configured, as far as that can make a task late. ONE FILE in this folder = ONE GROUP OF FACTS.
//
// A file `facts/irqs.cpp` defines `extern const FactGroup fact_irqs;`; the build lists the folder and generates the table. A group adds
// its keys to the list, whatever the machine has: what cannot be read is missing, with the reason; what the machine does not have is
// absent. It reads below an injectable root, so that a captured tree works like the machine itself.
//
// For privacy no host name, address, serial number, user name or cgroup path is captured; of the kernel's
// command line only the values that matter for lateness (every other parameter by name alone).
#pragma once

#include <span>
#include <string_view>

#include "core/result.hpp"
#include "facts/base/list.hpp"
#include "sys/root.hpp"

namespace howlate {

struct FactGroup {
  std::string_view name;
  void (*gather)(const Root& tree, FactList& facts);
  bool brief = false;  // a stream's header carries some of these: they are read in an instant
};

// Sorted by name.
std::span<const FactGroup* const> facts();

}  // namespace howlate
