#include "sys/tracer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text.hpp"
#include "sys/file.hpp"
#include "sys/tracefs.hpp"

namespace howlate {

namespace {

constexpr std::size_t buffer_bytes = 1U << 16U;

// "[50]" of a file that lists choices is not used here: these files hold one value.
bool holds(const std::string& path, const std::string& value) {
  const auto now = read_text(path);
  if (!now) return false;
  return *now == value || now->starts_with(value + " ") || now->find("[" + value + "]") != std::string::npos;
}

}  // namespace

Result<std::string> tracing_with(std::string_view tracer, const Root& root) {
  for (const std::string_view place : tracing_places) {
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

Result<Tracer> Tracer::make(std::string_view name, const Root& root, std::vector<int> measured) {
  auto folder = tracing_with(name, root);
  if (!folder) return folder.error();
  Changes changes(root, std::move(measured));
  auto instance = TraceInstance::make(*folder, "howlate", changes);
  if (!instance) return instance.error();
  return Tracer(std::string(name), std::move(*folder), root, std::move(changes), std::move(*instance));
}

Tracer::Tracer(std::string name, std::string folder, const Root& root, Changes changes,
               TraceInstance instance)
    : root_(root),
      name_(std::move(name)),
      folder_(std::move(folder)),
      changes_(std::move(changes)),
      instance_(std::move(instance)),
      buffer_(buffer_bytes, 0) {}

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
  if (const Status kept = changes_.announce(setting); !kept) return kept;
  if (const Status written = write_text(path, value); !written) return written;
  if (!holds(path, value))
    return not_possible("the kernel made " + read_text(path).value_or("nothing") + " of " +
                        std::string(file) + " = " + value);
  return {};
}

std::optional<std::string> Tracer::read(std::string_view file) const {
  return read_text(folder_ + '/' + std::string(file));
}

Status Tracer::start() {
  if (const Status set = set_own("tracing_on", "1"); !set) return set;
  if (const Status set = set_own("current_tracer", name_); !set)
    return not_possible("the kernel's tracer '" + name_ + "' does not start: " + set.error().message,
                        "It may run already: stop it with 'echo nop > " + folder_ + "/current_tracer'");
  return {};
}

Status Tracer::each_line(const std::function<void(std::string_view)>& line) {
  const std::string path = instance_.path("trace");
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
  if (!there_) return;
  there_ = false;
  stop();
  static_cast<void>(set_own("current_tracer", "nop"));
  static_cast<void>(changes_.undo());
}

}  // namespace howlate
