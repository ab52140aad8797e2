#include "sys/trace_instance.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/file.hpp"
#include "sys/rights.hpp"
#include "sys/undo.hpp"

namespace howlate {

Result<TraceInstance> TraceInstance::make(const std::string& tracing, const std::string& name,
                                          Changes& changes) {
  TraceInstance instance(tracing + "/instances/" + name);
  Setting own;
  own.kind = SettingKind::instance;
  own.path = name;
  if (const Status kept = changes.announce(own); !kept) return kept.error();
  const char* const folder = instance.folder_.c_str();
  instance.stop();
  if (::rmdir(folder) != 0 && errno != ENOENT) {
    static_cast<void>(instance.set("current_tracer", "nop"));
    ::rmdir(folder);
  }
  if (::mkdir(folder, 0755) != 0) {
    const int error = errno;
    changes.withdraw();
    return not_possible("no trace instance can be made in " + instance.folder_ + ": " + errno_text(error),
                        error == EEXIST ? "Another probe may use it: let that end first" : remedy_of_root());
  }
  instance.stop();
  return instance;
}

Status TraceInstance::set(std::string_view file, const std::string& value) const {
  return write_text(path(file), value);
}

std::optional<std::string> TraceInstance::read(std::string_view file) const {
  return read_text(path(file));
}

void TraceInstance::stop() const {
  static_cast<void>(set("tracing_on", "0"));
}

void remove_left_instances(const Root& root) {
  if (!has_state_folder(root)) return;
  const auto folder = state_folder(root);
  if (!folder) return;
  const auto lock = StateLock::take(*folder);
  if (!lock) return;
  const auto is_instance = [](const Setting& setting) { return setting.kind == SettingKind::instance; };
  for (JournalFile& journal : read_journals(*folder)) {
    const bool ours = journal.owner.boot_id == this_boot() && journal.owner.root == root.at("/");
    const bool only = journal.problem.empty() && !journal.settings.empty() &&
                      std::all_of(journal.settings.begin(), journal.settings.end(), is_instance);
    if (ours && only && !journal.held) static_cast<void>(undo_journal(journal));
  }
}

}  // namespace howlate
