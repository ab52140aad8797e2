// The journal of knobs: a probe writes each change to disk before it makes it, so that a killed
// probe's changes can be undone. One file a process; it carries the boot's id, and nothing is restored into
// another boot.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/setting.hpp"

namespace howlate {

// Where journals lie: $HOWLATE_STATE_DIR, else /run/howlate (root), $XDG_RUNTIME_DIR/howlate,
// /tmp/howlate-<uid>. Made if need be; refused if it is somebody else's.
Result<std::string> state_folder();
// Whether the folder exists; does not make it.
bool has_state_folder();
// Removes the folder if it is empty, to leave no trace. A folder that the user named stays.
void remove_empty_state_folder();

// A lock: one process at a time reads the journals and changes the machine. Released by the destructor.
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
  long long start_ticks = 0;  // of that process, since boot, because pids are reused
  std::string root;           // the tree that was changed: "/" or a fixture
};

struct JournalFile {
  std::string path;
  JournalOwner owner;             // no boot id where it could not be read
  std::string problem;            // why a part could not be understood; "" = understood, or never begun
  std::vector<Setting> settings;  // in the order in which they were changed
};

class Guardian;

// This process's own journal. Made with the first change, after the process that undoes it if this one is killed
// (sys/guardian.hpp), which stays away from the given CPUs.
class Journal {
 public:
  static Result<Journal> create(const std::string& folder, const std::string& root,
                                const std::vector<int>& away_from = {});
  // Returns when the change is on disk.
  Status append(const Setting& setting);
  // Everything is undone: removes the file.
  Status remove();

 private:
  Journal(Fd fd, std::string path, std::shared_ptr<Guardian> guardian)
      : fd_(std::move(fd)), path_(std::move(path)), guardian_(std::move(guardian)) {}
  Fd fd_;
  std::string path_;
  std::shared_ptr<Guardian> guardian_;
};

// Every journal in the folder. A last line that is cut was never acted upon, and is left out; so was a journal
// whose first line is cut. Any other that is not understood says so in `problem`: it may name changes.
std::vector<JournalFile> read_journals(const std::string& folder);
// How the names of a process's journals begin.
std::string journal_stem(const JournalOwner& owner);
// Whether the process that wrote it is still alive (in this boot).
bool owner_lives(const JournalOwner& owner);
std::string this_boot();  // "" if it cannot be read

}  // namespace howlate
