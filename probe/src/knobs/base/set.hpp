// The knobs in force: journaled, applied, read back, recorded, restored.
//
// A knob counts as applied only if what is read afterwards equals what was wanted; else everything applied so
// far is undone and the caller gets an Error. What a killed probe leaves behind is undone by its guardian
// (sys/guardian.hpp), else by restore_command() (knobs/base/command.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "knobs/knob.hpp"

namespace howlate {

// The destructor restores the knobs, in reverse order.
class KnobSet {
 public:
  KnobSet();
  KnobSet(KnobSet&&) noexcept;
  KnobSet& operator=(KnobSet&&) noexcept;
  ~KnobSet();

  // Whether `apply` could begin with these: known knobs with valid values that this machine has. Changes nothing.
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

}  // namespace howlate
