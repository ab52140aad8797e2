// Changes of the machine that one object makes for as long as it lives. Each is in a journal on disk before it is made, as
// those of knobs are, so that the guardian (sys/guardian.hpp) or `restore` undoes it after a probe that was killed; until then no
// other probe makes the same.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/journal.hpp"
#include "sys/root.hpp"
#include "sys/setting.hpp"

namespace howlate {

class Changes {
 public:
  explicit Changes(const Root& root) : root_(root) {}
  Changes(Changes&& other) noexcept
      : root_(std::move(other.root_)),
        made_(std::exchange(other.made_, {})),
        journal_(std::exchange(other.journal_, std::nullopt)) {}
  Changes& operator=(Changes&&) = delete;
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;
  ~Changes() { static_cast<void>(undo()); }

  // On disk when it returns; the change itself is the caller's to make.
  Status announce(Setting setting);
  // Nothing of it is to be undone: the caller could not make the change.
  void withdraw();
  // In reverse. The journal stays where something could not be undone.
  Status undo();

 private:
  Root root_;
  std::vector<Setting> made_;
  std::optional<Journal> journal_;
};

}  // namespace howlate
