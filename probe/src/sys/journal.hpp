// The journal of knobs: a probe writes each change to disk before it makes it, so that a killed
// probe's changes can be undone. One file a process; it carries the boot's id, and nothing is restored into
// another boot. Its owner holds a lock on it for as long as it lives, which every PID and time namespace sees.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/setting.hpp"

namespace howlate {

// Where the journals of a machine lie: /run/howlate there for root, one folder for a boot. Where that cannot be, and for other users,
// $HOWLATE_STATE_DIR, else $XDG_RUNTIME_DIR/howlate, /tmp/howlate-<uid>. Made if need be; refused if it is somebody else's.
Result<std::string> state_folder(const Root& machine = Root());
// Whether one exists; does not make it.
bool has_state_folder(const Root& machine = Root());
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
  std::string pids;           // the namespace of that PID, "pid:[4026531836]"; "" where the kernel has none

  bool operator==(const JournalOwner&) const = default;
};

struct JournalFile {
  std::string path;
  JournalOwner owner;             // no boot id where it could not be read
  bool held = false;              // its owner lives
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
// The calling process; a "not possible" where it cannot be told from those of other boots.
Result<JournalOwner> this_process(const std::string& root);
// Whether a process of the caller's own namespaces still runs.
bool process_lives(const JournalOwner& owner);
// "process 7", or "process 7 of another PID namespace".
std::string owner_text(const JournalOwner& owner);
std::string this_boot();  // "" if it cannot be read

}  // namespace howlate
