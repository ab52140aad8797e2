#include "sys/tracer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text.hpp"
#include "sys/undo.hpp"

namespace howlate {

namespace {

constexpr std::string_view instance = "/instances/howlate";
constexpr std::size_t buffer_bytes = 1U << 16U;

// "[50]" of a file that lists choices is not used here: these files hold one value.
bool holds(const std::string& path, const std::string& value) {
  const auto now = read_text(path);
  if (!now) return false;
  return *now == value || now->starts_with(value + " ") || now->find("[" + value + "]") != std::string::npos;
}

}  // namespace

Result<std::string> tracing_with(std::string_view tracer, const Root& root) {
  for (const std::string_view place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string folder = root.at(place);
    const auto list = read_text(folder + "/available_tracers");
    if (!list) continue;
    const auto words = split(*list, ' ');
    if (std::find(words.begin(), words.end(), tracer) != words.end()) return folder;
    return not_possible("this kernel has no tracer '" + std::string(tracer) + "'");
  }
  if (::access(root.at("/sys/kernel/tracing/.").c_str(), X_OK) != 0 && errno == EACCES)
    return not_possible("the kernel's tracing is for root alone");
  return not_possible("there is no tracing below /sys/kernel/tracing");
}

Result<Tracer> Tracer::make(std::string_view name, const Root& root) {
  auto folder = tracing_with(name, root);
  if (!folder) return folder.error();
  Tracer tracer(std::string(name), std::move(*folder), root);
  Setting own;
  own.kind = SettingKind::folder;
  own.path = tracer.without_root(tracer.own_);
  if (const Status kept = tracer.keep_in_journal(own); !kept) return kept.error();
  tracer.stop();
  if (::rmdir(tracer.own_.c_str()) != 0 && errno != ENOENT) {
    static_cast<void>(tracer.set_own("current_tracer", "nop"));  // left by a probe that was killed
    ::rmdir(tracer.own_.c_str());
  }
  if (::mkdir(tracer.own_.c_str(), 0755) != 0)
    return not_possible("no trace instance can be made in " + tracer.own_ + ": " + errno_text(errno),
                        errno == EEXIST ? "Another probe may use it: let that end first" : "Run it as root");
  tracer.made_ = true;
  tracer.stop();
  tracer.buffer_.assign(buffer_bytes, 0);
  return tracer;
}

Tracer::Tracer(std::string name, std::string folder, const Root& root)
    : root_(root),
      name_(std::move(name)),
      folder_(std::move(folder)),
      own_(folder_ + std::string(instance)) {}

Tracer::Tracer(Tracer&& other) noexcept
    : root_(std::move(other.root_)),
      name_(std::move(other.name_)),
      folder_(std::move(other.folder_)),
      own_(std::exchange(other.own_, {})),
      made_(std::exchange(other.made_, false)),
      changed_(std::exchange(other.changed_, {})),
      journal_(std::exchange(other.journal_, std::nullopt)),
      buffer_(std::move(other.buffer_)) {}

// On the disk before anything is changed.
Status Tracer::keep_in_journal(Setting setting) {
  const auto folder = state_folder();
  if (!folder) return folder.error();
  const auto lock = StateLock::take(*folder);
  if (!lock) return lock.error();
  if (const Status free = nobody_holds(*folder, root_.at("/"), {setting}); !free) return free;
  if (!journal_) {
    auto made = Journal::create(*folder, root_.at("/"));
    if (!made) return made.error();
    journal_.emplace(std::move(*made));
  }
  if (const Status kept = journal_->append(setting); !kept) return kept;
  setting.changed = true;
  changed_.push_back(std::move(setting));
  return {};
}

Status Tracer::set(std::string_view file, const std::string& value) {
  const std::string path = folder_ + '/' + std::string(file);
  const auto before = read_text(path);
  if (!before)
    return not_possible("this kernel's tracer '" + name_ + "' has no setting " + std::string(file));
  if (*before == value) return {};
  Setting setting;
  setting.path = without_root(path);
  setting.form = before->find('[') == std::string::npos ? Form::exact : Form::bracketed;
  setting.before = normalised(setting.form, *before);
  setting.wanted = value;
  if (setting.before == value) return {};
  if (const Status kept = keep_in_journal(setting); !kept) return kept;
  if (const Status written = write_text(path, value); !written) return written;
  if (!holds(path, value))
    return not_possible("the kernel made " + read_text(path).value_or("nothing") + " of " +
                        std::string(file) + " = " + value);
  return {};
}

Status Tracer::set_own(std::string_view file, const std::string& value) const {
  return write_text(own_ + '/' + std::string(file), value);
}

std::optional<std::string> Tracer::read(std::string_view file) const {
  return read_text(folder_ + '/' + std::string(file));
}

std::optional<std::string> Tracer::read_own(std::string_view file) const {
  return read_text(own_ + '/' + std::string(file));
}

Status Tracer::start() {
  if (const Status set = set_own("tracing_on", "1"); !set) return set;
  if (const Status set = set_own("current_tracer", name_); !set)
    return not_possible("the kernel's tracer '" + name_ + "' does not start: " + set.error().message,
                        "It may run already: stop it with 'echo nop > " + folder_ + "/current_tracer'");
  return {};
}

void Tracer::stop() const {
  if (!own_.empty()) static_cast<void>(set_own("tracing_on", "0"));
}

Status Tracer::each_line(const std::function<void(std::string_view)>& line) {
  const std::string path = own_ + "/trace";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return broken("cannot read " + path + ": " + errno_text(errno));
  std::size_t kept = 0;  // of a line that is not whole
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer_.data() + kept, buffer_.size() - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return broken("cannot read " + path + ": " + errno_text(errno));
    if (got == 0) return {};
    std::string_view text(buffer_.data(), kept + static_cast<std::size_t>(got));
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n')) {
      line(text.substr(0, at));
      text.remove_prefix(at + 1);
    }
    kept = text.size() < buffer_.size() ? text.size() : 0;
    std::memmove(buffer_.data(), text.data(), kept);
  }
}

void Tracer::end() {
  if (own_.empty()) return;
  if (made_) {
    stop();
    static_cast<void>(set_own("current_tracer", "nop"));
    const Undone undone = undo_settings(Root(root_.at("/")), changed_);
    if (undone.failed.empty() && journal_) static_cast<void>(journal_->remove());
  } else if (journal_) {
    static_cast<void>(journal_->remove());  // nothing was changed
  }
  journal_.reset();
  own_.clear();
}

}  // namespace howlate
