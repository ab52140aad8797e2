#include "sys/changes.hpp"

#include "core/text.hpp"
#include "sys/undo.hpp"

namespace howlate {

Status Changes::announce(Setting setting) {
  const auto folder = state_folder(root_);
  if (!folder) return folder.error();
  const auto lock = StateLock::take(*folder);
  if (!lock) return lock.error();
  if (const Status free = nobody_holds(*folder, root_.at("/"), {setting}); !free) return free;
  if (!journal_) {
    auto made = Journal::create(*folder, root_.at("/"), away_from_);
    if (!made) return made.error();
    journal_.emplace(std::move(*made));
  }
  if (const Status kept = journal_->append(setting); !kept) return kept;
  setting.changed = true;
  made_.push_back(std::move(setting));
  return {};
}

void Changes::withdraw() {
  made_.clear();
  if (journal_) static_cast<void>(journal_->remove());
  journal_.reset();
}

Status Changes::undo() {
  const Undone undone = undo_settings(Root(root_.at("/")), made_);
  if (undone.failed.empty()) {
    withdraw();
    return {};
  }
  journal_.reset();
  made_.clear();
  return broken("not everything could be restored: " + join(undone.failed, "; "),
                "Run `howlate-probe restore` as root");
}

}  // namespace howlate
