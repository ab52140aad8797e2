#include "sys/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "sys/guardian.hpp"

namespace howlate {
namespace {

constexpr std::string_view magic = "howlate-journal-2";
constexpr std::string_view kind_names[] = {"file", "folder", "instance", "held"};  // as SettingKind

// Values may hold anything; a line holds no newline and a field no tab.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\\\";
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char next = text[++at];
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return out;
}

// Empty fields count, unlike in parts_of().
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> out;
  for (;;) {
    const auto tab = line.find('\t');
    out.push_back(unescaped(line.substr(0, tab)));
    if (tab == std::string_view::npos) return out;
    line.remove_prefix(tab + 1);
  }
}

// Field 22 of /proc/PID/stat and the state; a zombie is dead.
Result<long long> start_ticks(long long pid) {
  const auto text = Root().read("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return text.error();
  const auto close = text->rfind(')');
  const auto fields =
      parts_of(std::string_view(*text).substr(close == std::string::npos ? 0 : close + 1), ' ');
  if (fields.size() < 20) return broken("not the stat of a process");
  if (fields[0] == "Z" || fields[0] == "X") return not_possible("it has ended");
  return to_integer(fields[19]);
}

Status write_whole(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t many = ::write(fd, text.data(), text.size());
    if (many < 0 && errno == EINTR) continue;
    if (many < 0)
      return broken("the journal " + path + " cannot be written: " + errno_text(errno), "make room there");
    text.remove_prefix(static_cast<std::size_t>(many));
  }
  if (::fsync(fd) != 0 && errno != EINVAL) {
    return broken("the journal " + path + " cannot be synced: " + errno_text(errno),
                  "choose another HOWLATE_STATE_DIR");
  }
  return {};
}

Status usable_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return not_possible(
        "the folder " + folder + " for the journal of knobs cannot be made: " + errno_text(errno),
        "set HOWLATE_STATE_DIR to a folder that can be written");
  }
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() ||
      ::access(folder.c_str(), W_OK) != 0) {
    return not_possible(folder + " is not a folder of the caller's that can be written",
                        "set HOWLATE_STATE_DIR to one that is");
  }
  return {};
}

std::string wanted_folder() {
  const char* wanted = ::getenv("HOWLATE_STATE_DIR");
  return wanted != nullptr ? wanted : "";
}

std::vector<std::string> candidate_folders(const Root& machine) {
  std::vector<std::string> found;
  if (::geteuid() == 0) found.push_back(machine.at("/run/howlate"));
  if (std::string wanted = wanted_folder(); !wanted.empty()) {
    found.push_back(std::move(wanted));
    return found;
  }
  if (const char* runtime = ::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && *runtime != '\0' && ::geteuid() != 0) {
    found.push_back(std::string(runtime) + "/howlate");
  }
  found.push_back("/tmp/howlate-" + std::to_string(::geteuid()));
  return found;
}

Result<JournalOwner> parse_owner(std::string_view line) {
  const auto fields = fields_of(line);
  const auto pid = to_integer(fields.size() > 2 ? fields[2] : "");
  const auto ticks = to_integer(fields.size() > 3 ? fields[3] : "");
  if (fields.size() != 6 || fields[0] != magic || !pid || !ticks)
    return broken("it does not begin as a journal of knobs of this version");
  return JournalOwner{fields[1], *pid, *ticks, fields[4], fields[5]};
}

Result<Setting> parse_change(std::string_view line) {
  const auto fields = fields_of(line);
  const auto form = form_of(fields.size() == 5 ? fields[1] : "");
  const auto* const kind = std::find(std::begin(kind_names), std::end(kind_names), fields[0]);
  if (!form || kind == std::end(kind_names) || *kind == "held")
    return broken("it has a line that is none of a journal");
  Setting setting;
  setting.kind = static_cast<SettingKind>(kind - std::begin(kind_names));
  setting.form = *form;
  setting.path = fields[2];
  setting.before = fields[3];
  setting.wanted = fields[4];
  setting.changed = true;
  return setting;
}

// The owner's lock, which goes with its last descriptor.
bool is_held(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string pid_namespace() {
  return Root().read_link("/proc/self/ns/pid").value_or("");
}

JournalFile parse_journal(const std::string& path) {
  JournalFile out{path, {}, is_held(path), {}, {}};
  const auto text = Root().read(path);
  if (!text) {
    out.problem = text.error().message;
    return out;
  }
  std::string_view rest = *text;
  bool first = true;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (first) {
      const auto owner = parse_owner(line);
      if (!owner) {
        out.problem = owner.error().message;
        return out;
      }
      out.owner = *owner;
      first = false;
    } else if (const auto setting = parse_change(line); setting) {
      out.settings.push_back(*setting);
    } else {
      out.problem = setting.error().message;  // the other lines hold all the same
    }
  }
  return out;
}

}  // namespace

Result<std::string> state_folder(const Root& machine) {
  Status status;
  for (const std::string& folder : candidate_folders(machine)) {
    status = usable_folder(folder);
    if (status) return folder;
  }
  return status.error();
}

bool has_state_folder(const Root& machine) {
  const auto folders = candidate_folders(machine);
  return std::any_of(folders.begin(), folders.end(),
                     [](const std::string& folder) { return ::access(folder.c_str(), F_OK) == 0; });
}

void remove_empty_state_folder() {
  if (!has_state_folder()) return;
  const auto folder = state_folder();
  if (!folder || *folder == wanted_folder()) return;
  const auto lock = StateLock::take(*folder);
  if (!lock || Root().list(*folder) != std::vector<std::string>{"lock"}) return;
  ::unlink((*folder + "/lock").c_str());
  ::rmdir(folder->c_str());
}

Result<StateLock> StateLock::take(const std::string& folder) {
  const std::string path = folder + "/lock";
  for (;;) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return broken("the lock " + path + " cannot be opened: " + errno_text(errno));
    while (::flock(fd.get(), LOCK_EX) != 0) {
      if (errno != EINTR) return broken("the lock " + path + " cannot be taken: " + errno_text(errno));
    }
    struct stat held {
    }, there{};
    if (::fstat(fd.get(), &held) != 0) return broken("the lock " + path + " cannot be looked at");
    if (::stat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino && held.st_dev == there.st_dev)
      return StateLock(std::move(fd));
    const Status usable = usable_folder(folder);  // it was removed while this one waited: begin anew
    if (!usable) return usable.error();
  }
}

Result<Journal> Journal::create(const std::string& folder, const std::string& root,
                                const std::vector<int>& away_from) {
  const auto owner = this_process(root);
  if (!owner) return owner.error();
  auto guardian = Guardian::of(*owner, away_from);
  const std::string stem = folder + "/" + journal_stem(*owner);
  std::string path = stem + ".journal";
  for (int turn = 1;; ++turn) {  // a process may hold several sets
    Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (!fd.valid() && errno == EEXIST) {
      path = stem + "-" + std::to_string(turn) + ".journal";
      continue;
    }
    if (!fd.valid()) return broken("the journal " + path + " cannot be made: " + errno_text(errno));
    while (::flock(fd.get(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      ::unlink(path.c_str());
      return not_possible("the journal " + path + " cannot be locked: " + errno_text(error),
                          "set HOWLATE_STATE_DIR to a folder on a local disk");
    }
    std::string line(magic);
    line += "\t" + owner->boot_id + "\t" + std::to_string(owner->pid) + "\t" +
            std::to_string(owner->start_ticks) + "\t" + escaped(root) + "\t" + owner->pids + "\n";
    Journal journal(std::move(fd), path, std::move(guardian));
    Status status = write_whole(journal.fd_.get(), line, path);
    if (!status) return status.error();
    const Fd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.valid()) (void)::fsync(parent.get());
    return journal;
  }
}

Status Journal::append(const Setting& setting) {
  std::string line(kind_names[static_cast<std::size_t>(setting.kind)]);
  line += "\t" + std::string(form_name(setting.form)) + "\t" + escaped(setting.path) + "\t" +
          escaped(setting.before) + "\t" + escaped(setting.wanted) + "\n";
  return write_whole(fd_.get(), line, path_);
}

Status Journal::remove() {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
    return broken("the journal " + path_ + " cannot be removed: " + errno_text(errno));
  }
  fd_.reset();
  guardian_.reset();
  return {};
}

std::string journal_stem(const JournalOwner& owner) {
  return "knobs-" + std::to_string(owner.pid) + "-" + std::to_string(owner.start_ticks);
}

std::vector<JournalFile> read_journals(const std::string& folder) {
  std::vector<JournalFile> out;
  for (const std::string& name : Root().list(folder)) {
    if (!name.starts_with("knobs-") || !name.ends_with(".journal")) continue;
    out.push_back(parse_journal(folder + "/" + name));
  }
  return out;
}

Result<JournalOwner> this_process(const std::string& root) {
  const auto ticks = start_ticks(::getpid());
  const JournalOwner owner{this_boot(), ::getpid(), ticks ? *ticks : 0, root, pid_namespace()};
  if (ticks && !owner.boot_id.empty()) return owner;
  return not_possible(
      "knobs need /proc: without this boot's id what a killed probe left cannot be told from another boot's",
      "mount /proc");
}

bool process_lives(const JournalOwner& owner) {
  const auto ticks = start_ticks(owner.pid);
  return ticks && *ticks == owner.start_ticks;
}

std::string owner_text(const JournalOwner& owner) {
  return "process " + std::to_string(owner.pid) +
         (owner.pids == pid_namespace() ? "" : " of another PID namespace");
}

std::string this_boot() {
  const auto text = Root().read_text("/proc/sys/kernel/random/boot_id");
  return text ? *text : "";
}

}  // namespace howlate
