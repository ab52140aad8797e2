// The journal of knobs: what a probe is about to change, on disk before it changes it, so that a killed
// probe's changes can be undone. One file a process; it carries the boot's id, and nothing is restored into
// another boot.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/knobs_setting.hpp"

namespace howlate {

// Where journals lie: $HOWLATE_STATE_DIR, else /run/howlate (root), $XDG_RUNTIME_DIR/howlate,
// /tmp/howlate-<uid>. Made if need be; refused if it is somebody else's.
Result<std::string> state_folder();
// Is it there already? Makes nothing.
bool has_state_folder();
// Removes it where it holds nothing, for a program that leaves no trace. One that the user named stays.
void remove_empty_state_folder();

// One process at a time looks at the journals and changes the machine. Released when it goes.
class StateLock {
 public:
  static Result<StateLock> take(const std::string& folder);

 private:
  explicit StateLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

struct JournalOwner {
  std::string boot_id;
  long long pid = 0;
  long long start_ticks = 0;  // of that process, since boot: a pid may come again
  std::string root;           // the tree that was changed: "/" or a fixture
};

struct JournalFile {
  std::string path;
  JournalOwner owner;             // no boot id where it could not be read
  std::string problem;            // why not all of it was understood; "" = it was, or it was never begun
  std::vector<Setting> settings;  // in the order in which they were changed
};

// This process's own. Made with the first change.
class Journal {
 public:
  static Result<Journal> create(const std::string& folder, const std::string& root);
  // On the disk when it returns.
  Status append(const Setting& setting);
  // All is undone: the file goes.
  Status remove();

 private:
  Journal(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

// Every journal in the folder. A last line that is cut was never acted upon, and is left out; so was a journal
// whose first line is cut. Any other that is not understood says so in `problem`: it may name changes.
std::vector<JournalFile> read_journals(const std::string& folder);
// Does the process that wrote it still live (in this boot)?
bool owner_lives(const JournalOwner& owner);
std::string this_boot();  // "" if it cannot be read

}  // namespace howlate
