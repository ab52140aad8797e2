#include "knobs/base/set.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/json.hpp"
#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/journal.hpp"
#include "sys/rights.hpp"
#include "sys/undo.hpp"

namespace howlate {
namespace {

struct KnobSettings {
  const Knob* knob;
  std::string value;
  std::size_t first;  // its settings
  std::size_t count;
};

Error of_knob(const Knob& knob, const Error& error) {
  return {error.code, "the knob " + std::string(knob.name) + ": " + error.message, error.remedy};
}

// A value that the kernel refuses is "not possible here", whatever the reason: nothing broke.
Error refusal(const Error& error) {
  return not_possible(error.message, error.remedy.empty()
                                         ? "the kernel does not take this value as things are"
                                         : error.remedy);
}

}  // namespace

struct KnobSet::State {
  explicit State(const KnobContext& given) : context(given), tree(given.root) {}

  Status plan(const std::vector<std::string>& specs);
  Status change_all();
  Status change(Setting& setting);
  Status change_file(Setting& setting);
  Status make_folder(Setting& setting);
  Status hold(Setting& setting);
  Status keep_in_journal(Setting& setting);
  void look_at_requests();
  Status restore();  // of knobs that were in force
  Status undo();

  KnobContext context;
  Root tree;
  std::string folder;  // of the journals
  std::vector<KnobSettings> wanted;
  Settings settings;
  std::optional<Journal> journal;
  std::vector<std::pair<std::size_t, Fd>> held;  // by which setting
  InForce found;                                 // at the end
  pid_t owner = ::getpid();                      // a fork of the owner restores nothing
  bool ended = false;
};

Status KnobSet::State::plan(const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) {
    const auto equals = spec.find('=');
    if (equals == std::string::npos)
      return usage_error(in_quotes(spec) + " is not NAME=VALUE",
                         "write a knob with its value, such as rt_throttling=off");
    const auto knob = find_knob(std::string_view(spec).substr(0, equals));
    if (!knob) return knob.error();
    const auto twice = [&](const KnobSettings& one) { return one.knob == *knob; };
    if (std::any_of(wanted.begin(), wanted.end(), twice)) {
      return usage_error("the knob " + std::string((*knob)->name) + " is given twice", "give it once");
    }
    const Status there = (*knob)->available(context);
    if (!there) return of_knob(**knob, there.error());
    const std::string value = spec.substr(equals + 1);
    auto planned = (*knob)->plan(**knob, context, value);
    if (!planned) return of_knob(**knob, planned.error());
    wanted.push_back({*knob, value, settings.size(), planned->size()});
    settings.insert(settings.end(), planned->begin(), planned->end());
  }
  return {};
}

Status KnobSet::State::keep_in_journal(Setting& setting) {
  if (!journal) {
    auto made = Journal::create(folder, context.root, context.measuring_cpus);
    if (!made) return made.error();
    journal.emplace(std::move(*made));
  }
  const Status status = journal->append(setting);
  setting.changed = status.ok();
  return status;
}

Status KnobSet::State::change_file(Setting& setting) {
  const auto before = read_setting(tree, setting.form, setting.path, setting.wanted);
  if (!before) return before.error();
  setting.before = setting.read_back = *before;
  if (same_value(setting.form, *before, setting.wanted)) return {};
  if (!setting.inside) {
    const Status kept = keep_in_journal(setting);
    if (!kept) return kept;
  }
  const Status written = tree.write(setting.path, setting.wanted);
  const auto after = read_setting(tree, setting.form, setting.path, setting.wanted);
  if (after) setting.read_back = *after;
  if (!written && setting.may_refuse) {
    setting.refused = written.error().message;
    return {};
  }
  if (!written) return refusal(written.error());
  if (!after) return after.error();
  if (!same_value(setting.form, *after, setting.wanted)) {
    return not_possible(setting.path + " reads " + *after + " after " + setting.wanted + " was written",
                        "the kernel or the hardware does not take this value");
  }
  return {};
}

Status KnobSet::State::make_folder(Setting& setting) {
  const Status kept = keep_in_journal(setting);
  if (!kept) return kept;
  if (::mkdir(tree.at(setting.path).c_str(), 0755) != 0) {
    return not_possible(setting.path + " cannot be made: " + errno_text(errno));
  }
  return {};
}

// The device's value is the strictest request of all; ours is in force if it reads as ours.
Status KnobSet::State::hold(Setting& setting) {
  Fd fd(::open(tree.at(setting.path).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid())
    return not_possible(setting.path + " cannot be opened: " + errno_text(errno), remedy_of_root());
  std::int32_t now = 0;
  if (::pread(fd.get(), &now, sizeof now, 0) == static_cast<ssize_t>(sizeof now))
    setting.before = std::to_string(now);
  const auto wanted_us = to_integer(setting.wanted);
  const auto value = static_cast<std::int32_t>(wanted_us ? *wanted_us : 0);
  if (::write(fd.get(), &value, sizeof value) != static_cast<ssize_t>(sizeof value)) {
    return not_possible(setting.path + " does not take a request: " + errno_text(errno));
  }
  if (::pread(fd.get(), &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now)) {
    return broken(setting.path + " cannot be read back: " + errno_text(errno));
  }
  setting.read_back = std::to_string(now);
  if (now != value) {
    return not_possible(
        setting.path + " reads " + setting.read_back + " after " + setting.wanted + " was requested",
        "another process holds a stricter request: end it, or ask for its value");
  }
  setting.changed = true;
  held.emplace_back(static_cast<std::size_t>(&setting - settings.data()), std::move(fd));
  return {};
}

Status KnobSet::State::change(Setting& setting) {
  switch (setting.kind) {
    case SettingKind::file:
      return change_file(setting);
    case SettingKind::folder:
      return make_folder(setting);
    case SettingKind::held:
      return hold(setting);
    case SettingKind::instance:
      break;  // no knob's
  }
  return {};
}

Status KnobSet::State::change_all() {
  for (const KnobSettings& one : wanted) {
    std::size_t refused = 0;
    std::size_t optional = 0;
    for (std::size_t at = one.first; at < one.first + one.count; ++at) {
      const Status status = change(settings[at]);
      if (!status) return of_knob(*one.knob, status.error());
      optional += settings[at].may_refuse ? 1 : 0;
      refused += settings[at].refused.empty() ? 0 : 1;
    }
    if (optional > 0 && refused == optional) {
      return of_knob(*one.knob, not_possible("the kernel moved none of " + std::to_string(optional) + " (" +
                                             settings[one.first + one.count - 1].refused + ")"));
    }
  }
  return {};
}

// Another process may have requested less meanwhile.
void KnobSet::State::look_at_requests() {
  for (const auto& [at, fd] : held) {
    const Setting& setting = settings[at];
    std::int32_t now = 0;
    if (::pread(fd.get(), &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now)) continue;
    found.values[at] = std::to_string(now);
    if (found.values[at] != setting.wanted)
      found.lost.push_back(setting.path + " is " + found.values[at] + ", no longer " + setting.wanted);
  }
}

Status KnobSet::State::restore() {
  if (ended || owner != ::getpid()) return {};
  found = look_again(tree, settings);
  look_at_requests();
  return undo();
}

Status KnobSet::State::undo() {
  if (ended || owner != ::getpid()) return {};
  ended = true;
  if (!held.empty()) {
    held.clear();
    for (Setting& setting : settings)
      setting.restored = setting.restored || setting.kind == SettingKind::held;
  }
  Undone undone;
  if (journal) {
    const auto lock = StateLock::take(folder);  // without it rather than not at all
    undone = undo_settings(tree, settings);
    if (!undone.failed.empty()) {
      return broken("not every knob could be restored: " + join(undone.failed, "; "),
                    "run `howlate-probe restore` as root");
    }
    const Status removed = journal->remove();
    if (!removed) return removed;
  }
  undone.left.insert(undone.left.begin(), found.lost.begin(), found.lost.end());
  if (undone.left.empty()) return {};
  return broken("a knob was changed by somebody else meanwhile: " + join(undone.left, "; "),
                "look who else tunes this machine");
}

KnobSet::KnobSet() = default;
KnobSet::KnobSet(KnobSet&&) noexcept = default;
KnobSet& KnobSet::operator=(KnobSet&& other) noexcept {
  if (this != &other) {
    if (state_) (void)state_->undo();
    state_ = std::move(other.state_);
  }
  return *this;
}
KnobSet::~KnobSet() {
  if (state_) (void)state_->undo();
}

Status KnobSet::check(const std::vector<std::string>& specs, const KnobContext& context) {
  return State(context).plan(specs);
}

Result<KnobSet> KnobSet::apply(const std::vector<std::string>& specs, const KnobContext& context) {
  KnobSet set;
  if (specs.empty()) return set;
  set.state_ = std::make_unique<State>(context);
  State& state = *set.state_;
  const Status planned = state.plan(specs);
  if (!planned) return planned.error();
  const auto folder = state_folder(state.tree);
  if (!folder) return folder.error();
  state.folder = *folder;
  Status changed;
  {
    const auto lock = StateLock::take(*folder);
    if (!lock) return lock.error();
    const Status unheld = nobody_holds(*folder, context.root, state.settings);
    if (!unheld) return unheld.error();
    changed = state.change_all();
  }
  if (changed) return set;
  Error error = changed.error();
  const Status undone = state.undo();
  if (!undone) error.message += "; and " + undone.error().message;
  return error;
}

Status KnobSet::restore() {
  return state_ ? state_->restore() : Status{};
}

Status KnobSet::enter_cpuset() const {
  if (!state_) return {};
  const auto made = std::find_if(state_->settings.begin(), state_->settings.end(),
                                 [](const Setting& one) { return one.kind == SettingKind::folder; });
  if (made == state_->settings.end()) return {};
  const std::string& folder = made->path;
  if (!state_->tree.exists(folder + "/tasks"))
    return not_possible(
        "with cgroup v2 a thread cannot enter the cpuset alone, and the recorder must stay outside",
        "Boot with systemd.unified_cgroup_hierarchy=0 for cgroup v1, or leave the knob cpuset out");
  const Status entered = state_->tree.write(folder + "/tasks", std::to_string(::syscall(SYS_gettid)));
  return entered ? entered : refusal(entered.error());
}

std::string KnobSet::to_json() const {
  JsonWriter json;
  json.begin_array();
  for (const KnobSettings& one : state_ ? state_->wanted : std::vector<KnobSettings>{}) {
    json.begin_object()
        .member("name", one.knob->name)
        .member("wanted", one.value)
        .key("settings")
        .begin_array();
    for (std::size_t at = one.first; at < one.first + one.count; ++at) {
      const Setting& setting = state_->settings[at];
      json.begin_object().member("path", setting.path).member("before", setting.before);
      json.member("wanted", setting.wanted).member("read_back", setting.read_back);
      json.member("found", at < state_->found.values.size() ? state_->found.values[at] : "");
      json.member("refused", setting.refused).member("changed", setting.changed);
      json.member("restored", setting.restored || !setting.changed).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace howlate
