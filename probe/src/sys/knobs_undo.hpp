// Undoing one change of the machine: by the probe that made it, or by a later `restore`.
#pragma once

#include <string>
#include <vector>

#include "sys/knobs_setting.hpp"

namespace howlate {

struct Undone {
  std::vector<std::string> done;    // what was undone: "/proc/sys/...: -1 -> 950000"
  std::vector<std::string> left;    // changed by somebody else since, or gone: left as it is
  std::vector<std::string> failed;  // could not be undone
};

// In reverse. A value that is neither what was wanted nor what was before is somebody else's by now, and is
// left.
Undone undo_settings(const Tree& tree, std::vector<Setting>& settings);

// Is what is wanted held by another probe, or left over from a killed one? With the state locked.
Status nobody_holds(const std::string& folder, const std::string& root, const std::vector<Setting>& settings);

}  // namespace howlate
