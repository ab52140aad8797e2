// Knobs: settings that change the machine for everyone. Off unless asked for; journaled, applied, read back,
// recorded, restored.
//
// A knob counts as applied only if what is read afterwards equals what was wanted; else everything applied so
// far is undone and the caller gets an Error. What a killed probe leaves behind is undone by
// restore_command() (sys/journal.hpp).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

struct Setting;  // sys/knobs_setting.hpp: one file, with its value before, wanted and read back

// What a knob may need to know to plan its settings.
struct KnobContext {
  std::string root = "/";           // of /proc, /sys and /dev; a fixture folder in tests
  std::vector<int> measuring_cpus;  // for "away"; empty when there are none
};

struct Knob {
  std::string_view name;     // "rt_throttling"
  std::string_view summary;  // one line
  std::string_view values;   // "off | microseconds a period"
  Status (*availability)(const KnobContext& context);
  Result<std::vector<Setting>> (*plan)(const KnobContext& context,
                                       std::string_view value);  // changes nothing

  // Can it be set here and now? The error says why not and how to grant it.
  [[nodiscard]] Status available() const { return availability(KnobContext{}); }
};

// Sorted by name.
std::span<const Knob* const> knobs();
Result<const Knob*> find_knob(std::string_view name);

// The knobs that are set at the moment. Restores them, in reverse, when it goes.
class KnobSet {
 public:
  KnobSet();
  KnobSet(KnobSet&&) noexcept;
  KnobSet& operator=(KnobSet&&) noexcept;
  ~KnobSet();

  // Whether `apply` could begin with these: known, their values sensible, this machine has them. Changes nothing.
  static Status check(const std::vector<std::string>& specs, const KnobContext& context = {});
  // Each spec is NAME=VALUE. All or nothing: at the first that fails, those before it are undone.
  static Result<KnobSet> apply(const std::vector<std::string>& specs, const KnobContext& context = {});

  // Undoes everything now (at most once; the destructor does it otherwise). An error names what could not be
  // undone; it stays in the journal.
  Status restore();

  // Moves the calling thread into the CPUs of the knob `cpuset`; nothing without it. Not possible with cgroup
  // v2, which would move the whole process.
  [[nodiscard]] Status enter_cpuset() const;

  // [{"name", "wanted", "settings": [{"path", "before", "wanted", "read_back", "refused", "changed",
  // "restored"}]}]
  [[nodiscard]] std::string to_json() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `howlate-probe restore`: undo what killed probes left behind, this boot's only.
ExitCode restore_command();

// `howlate-probe hold --knob NAME=VALUE ... [--cpus LIST] [--duration T]`: hold knobs until SIGTERM, SIGINT
// or the duration; argv without the word "hold". Prints one JSON line when they are in force and one when
// they are restored.
ExitCode hold_command(const std::vector<std::string>& argv);

}  // namespace howlate
