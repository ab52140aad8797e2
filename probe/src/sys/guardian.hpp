// A process that outlives a killed probe for as long as undoing takes. The probe starts it before its first change of the
// machine; it sleeps until the probe ends, and then undoes the journals that this one left, as `restore` does. It has no timer:
// while the probe lives it is never woken.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/journal.hpp"

namespace howlate {

// The command line's word for it, which no help lists: only a probe starts one.
inline constexpr std::string_view guardian_word = "guardian";
// Its name for ps, and the first word of its command line. Neither has "howlate" in it: `pkill -9 howlate` and `pkill -9 -f howlate`
// kill the probes, and what undoes their changes stays.
inline constexpr const char* guardian_name = "knob-guardian";

class Guardian {
 public:
  // From now on this program starts guardians: for those whose main() knows the word.
  static void allow();
  // The guardian of the calling process (`owner`), which all journals share; it sleeps when this returns. On its own CPUs it stays
  // away from the given ones where others are left. Nothing where it cannot be started: then `restore` remains.
  static std::shared_ptr<Guardian> of(const JournalOwner& owner, const std::vector<int>& away_from);

  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  // Everything is undone: lets it end, and reaps it.
  ~Guardian();

 private:
  Guardian() = default;
  bool start(const JournalOwner& owner, const std::vector<int>& cpus);

  pid_t pid_ = 0;
  pid_t owner_ = 0;  // a fork of the owner lets nobody end
  Fd heard_;   // its end of the pipe below: kept open, so that writing to a dead guardian raises no signal
  Fd orders_;  // to the guardian: a byte lets it end
  Fd signs_;   // from it: a byte when it sleeps, the end when it ends
};

struct GuardianOrders {
  JournalOwner owner;     // of this boot
  std::vector<int> cpus;  // on which it runs
};
// Its command line, and back.
std::vector<std::string> guardian_words(const JournalOwner& owner, const std::vector<int>& cpus);
Result<GuardianOrders> read_guardian_words(const std::vector<std::string>& words);

// `howlate-probe guardian PID TICKS CPUS`: standard input and output are the pipes to the probe.
ExitCode guardian_command(const std::vector<std::string>& words);

}  // namespace howlate
