#include "sys/undo.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/file.hpp"
#include "sys/journal.hpp"
#include "sys/tracefs.hpp"

namespace howlate {
namespace {

constexpr int folder_turns = 100;  // a killed task leaves its cgroup only when its exit is through
constexpr long folder_pause_ns = 10'000'000;

void undo_file(const Root& tree, Setting& setting, Undone& out) {
  const auto now = read_setting(tree, setting.form, setting.path, setting.before);
  if (!now) {  // gone, with what it set; or there and unreadable, so that it may still be as we left it
    (tree.exists(setting.path) ? out.failed : out.left).push_back(now.error().message);
    return;
  }
  if (same_value(setting.form, *now, setting.before)) {
    setting.restored = true;
    return;
  }
  if (!same_value(setting.form, *now, setting.wanted)) {
    out.left.push_back(setting.path + " is " + *now + ": somebody changed it since, so it is left");
    return;
  }
  const Status status = tree.write(setting.path, setting.before);
  const auto again = read_setting(tree, setting.form, setting.path, setting.before);
  if (!status || !again || !same_value(setting.form, *again, setting.before)) {
    out.failed.push_back(!status ? status.error().message
                                 : setting.path + " does not take " + setting.before + " again");
    return;
  }
  setting.restored = true;
  out.done.push_back(setting.path + ": " + setting.wanted + " -> " + setting.before);
}

void move_tasks_up(const Root& tree, const std::string& folder) {
  const std::string above = folder.substr(0, folder.rfind('/'));
  const char* list = tree.exists(folder + "/tasks") ? "/tasks" : "/cgroup.procs";
  const auto text = tree.read(folder + list);
  for (const std::string& task : text ? parts_of(*text, '\n') : std::vector<std::string>{}) {
    (void)tree.write(above + list, task);  // it may end meanwhile; rmdir tells
  }
}

void undo_folder(const Root& tree, Setting& setting, Undone& out) {
  if (!tree.exists(setting.path)) {
    setting.restored = true;
    return;
  }
  int error = 0;
  for (int turn = 0; turn < folder_turns; ++turn) {
    move_tasks_up(tree, setting.path);
    if (::rmdir(tree.at(setting.path).c_str()) == 0) {
      setting.restored = true;
      out.done.push_back(setting.path + ": removed");
      return;
    }
    error = errno;
    if (error != EBUSY) break;
    const struct timespec pause = {0, folder_pause_ns};
    (void)::nanosleep(&pause, nullptr);
  }
  out.failed.push_back(setting.path + " cannot be removed: " + errno_text(error));
}

// Before any setting is undone: a tracer that stops puts back what it found when it began (hwlat its threshold).
void stop_tracer(const Root& tree, const Setting& setting) {
  const auto tracefs = Tracefs::open(tree);
  if (!tracefs) return;
  const std::string tracer = tracefs->folder() + "/instances/" + setting.path + "/current_tracer";
  for (int turn = 0; turn < folder_turns && read_text(tracer).value_or("nop") != "nop"; ++turn) {
    if (write_text(tracer, "nop")) return;
    const struct timespec pause = {0, folder_pause_ns};  // a killed task still reads what it traced
    (void)::nanosleep(&pause, nullptr);
  }
}

// By its name: the process that made it may have had tracefs mounted elsewhere, or detached.
void undo_instance(const Root& tree, Setting& setting, Undone& out) {
  const std::string what = "trace instance " + setting.path;
  const auto tracefs = Tracefs::open(tree);
  if (!tracefs) {
    out.failed.push_back(what + " cannot be removed: " + tracefs.error().message);
    return;
  }
  const std::string folder = tracefs->folder() + "/instances/" + setting.path;
  int error = 0;
  for (int turn = 0; turn < folder_turns; ++turn) {
    if (::rmdir(folder.c_str()) == 0) out.done.push_back(what + ": removed");
    error = errno;
    setting.restored = ::access(folder.c_str(), F_OK) != 0 && errno == ENOENT;
    if (setting.restored) return;
    if (error != EBUSY) break;
    // A killed task still has one of its files open.
    const struct timespec pause = {0, folder_pause_ns};
    (void)::nanosleep(&pause, nullptr);
  }
  out.failed.push_back(what + " cannot be removed: " + errno_text(error));
}

// Not of another boot; its first line may never have been written.
bool is_of(const JournalFile& journal, const JournalOwner& owner) {
  const std::string name = journal.path.substr(journal.path.rfind('/') + 1);
  const std::string stem = journal_stem(owner);
  return (name.starts_with(stem + ".") || name.starts_with(stem + "-")) &&
         (journal.owner.boot_id.empty() || journal.owner == owner);
}

}  // namespace

InForce look_again(const Root& tree, const std::vector<Setting>& settings) {
  InForce found;
  for (const Setting& setting : settings) {
    std::string& value = found.values.emplace_back();
    if (!setting.refused.empty()) continue;
    if (setting.kind == SettingKind::folder && !tree.exists(setting.path))
      found.lost.push_back(setting.path + " was removed");
    if (setting.kind != SettingKind::file) continue;
    const auto now = read_setting(tree, setting.form, setting.path, setting.wanted);
    value = now.value_or("");
    const bool holds = now && same_value(setting.form, *now, setting.wanted);
    const bool third = setting.changed && (!now || !same_value(setting.form, *now, setting.before));
    if (!holds && !third)
      found.lost.push_back(setting.path + " is " + (now ? *now : "gone") + ", no longer " + setting.wanted);
  }
  return found;
}

Undone undo_settings(const Root& tree, std::vector<Setting>& settings) {
  Undone out;
  for (const Setting& setting : settings)
    if (setting.kind == SettingKind::instance && setting.changed && !setting.restored)
      stop_tracer(tree, setting);
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    if (!setting->changed || setting->restored) continue;
    if (setting->kind == SettingKind::file) undo_file(tree, *setting, out);
    if (setting->kind == SettingKind::folder) undo_folder(tree, *setting, out);
    if (setting->kind == SettingKind::instance) undo_instance(tree, *setting, out);
  }
  return out;
}

bool undo_journal(JournalFile& journal) {
  return undo_settings(Root(journal.owner.root), journal.settings).failed.empty() &&
         journal.problem.empty() && (::unlink(journal.path.c_str()) == 0 || errno == ENOENT);
}

bool undo_journals_of(const JournalOwner& owner) {
  const Root machine(owner.root);
  if (!has_state_folder(machine)) return true;
  const auto folder = state_folder(machine);
  if (!folder) return false;
  const auto theirs = [&](const JournalFile& journal) { return is_of(journal, owner); };
  const auto before = read_journals(*folder);
  if (std::none_of(before.begin(), before.end(), theirs))
    return true;                               // and makes no lock where there was none
  const auto lock = StateLock::take(*folder);  // without it rather than not at all
  bool all = true;
  for (JournalFile& journal : read_journals(*folder))
    if (theirs(journal)) all = undo_journal(journal) && all;
  return all;
}

Status nobody_holds(const std::string& folder, const std::string& root,
                    const std::vector<Setting>& settings) {
  for (const JournalFile& journal : read_journals(folder)) {
    if (journal.owner.boot_id.empty() && !journal.problem.empty())
      return not_possible("the journal " + journal.path + " is not understood (" + journal.problem +
                              "), so what it holds is not known",
                          "run `howlate-probe restore` (or `howlate doctor --restore`) first");
    if (journal.owner.boot_id != this_boot() || journal.owner.root != root) continue;
    for (const Setting& theirs : journal.settings) {
      const auto same = [&](const Setting& ours) {
        return ours.kind == SettingKind::file && ours.path == theirs.path;
      };
      if (std::none_of(settings.begin(), settings.end(), same)) continue;
      const std::string owner = owner_text(journal.owner);
      if (journal.held)
        return not_possible(theirs.path + " is held by another probe, " + owner,
                            "wait until that one has ended");
      return not_possible(theirs.path + " is still as a killed probe, " + owner + ", left it",
                          "run `howlate-probe restore` (or `howlate doctor --restore`) first");
    }
  }
  return {};
}

}  // namespace howlate
