// Undoing one change of the machine: by the probe that made it, or by a later `restore`.
#pragma once

#include <string>
#include <vector>

#include "sys/journal.hpp"
#include "sys/setting.hpp"

namespace howlate {

struct Undone {
  std::vector<std::string> done;    // what was undone: "/proc/sys/...: -1 -> 950000"
  std::vector<std::string> left;    // changed by somebody else since, or gone: left unchanged
  std::vector<std::string> failed;  // could not be undone
};

// What is in force at the end.
struct InForce {
  std::vector<std::string> values;  // of each setting; "" where it could not be read
  std::vector<std::string> lost;    // a sentence for each that was wanted and is no longer
};
// Reads back what is held; call it before undo_settings(). A third value, neither
// the wanted one nor that of before, is lost as well, but undo_settings() tells of it.
InForce look_again(const Root& tree, const std::vector<Setting>& settings);

// In reverse. A value that is neither what was wanted nor what was before is somebody else's by now, and is
// left.
Undone undo_settings(const Root& tree, std::vector<Setting>& settings);

// Undoes a journal and removes it, without a word; call it with the state locked. False where it is kept for `restore` to tell why.
bool undo_journal(JournalFile& journal);
// The same with all journals of a process that has ended. Locks the state if there are any.
bool undo_journals_of(const JournalOwner& owner);

// Whether another probe holds a wanted setting, or a killed one left it. Call it with the state locked.
Status nobody_holds(const std::string& folder, const std::string& root, const std::vector<Setting>& settings);

}  // namespace howlate
