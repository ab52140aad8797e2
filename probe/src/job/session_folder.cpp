#include "job/session_folder.hpp"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "core/json.hpp"
#include "core/text.hpp"
#include "job/keeper.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

namespace fs = std::filesystem;
constexpr const char* others_file = "/others";  // names the folders elsewhere, a line each
constexpr std::int64_t spare_bytes = std::int64_t{16} << 20;
constexpr std::int64_t memory_bytes_most = std::int64_t{256} << 20;
constexpr std::time_t young_s = 60;  // a session's folder is there before its keeper
constexpr std::size_t most_text = 64U << 10U;
constexpr long tmpfs_magic = 0x01021994, ramfs_magic = 0x858458f6;

std::int64_t free_bytes(const std::string& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) return 0;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

bool is_memory(const std::string& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  const auto type = static_cast<long>(info.f_type);
  return type == tmpfs_magic || type == ramfs_magic;
}

bool has_room(const std::string& folder, std::int64_t bytes) {
  if (bytes > memory_bytes_most && is_memory(folder)) return false;
  return free_bytes(folder) >= bytes + spare_bytes;
}

std::string mebibytes(std::int64_t bytes) {
  return std::to_string((bytes + (std::int64_t{1} << 20) - 1) >> 20) + " MiB";
}

// The end of it: what a program says last says why.
std::string last_words(const std::string& path) {
  std::string text = read_text(path).value_or("");
  return text.size() > most_text ? text.substr(text.size() - most_text) : text;
}

std::vector<std::string> others_of(const std::string& folder) {
  const std::string text = read_text(folder + others_file).value_or("");
  std::vector<std::string> found;
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty()) found.emplace_back(line);
  return found;
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return not_possible("cannot make the folder " + path + ": " + errno_text(errno));
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    return not_possible(path + " is not a folder of this user's");
  return {};
}

// OTHER/howlate.TOKEN/NAME; the session knows of it before it is there.
Result<std::string> make_elsewhere(const std::string& folder, const std::string& place,
                                   const std::string& name) {
  const std::string mine = place + '/' + fs::path(folder).filename().string();
  const std::vector<std::string> known = others_of(folder);
  if (std::find(known.begin(), known.end(), mine) == known.end()) {
    std::ofstream list(folder + others_file, std::ios::app);
    list << mine << '\n';
    if (!list.flush()) return not_possible("cannot write " + folder + others_file, "make room there");
  }
  for (const std::string& one : {mine, mine + '/' + name})
    if (const Status made = make_folder(one); !made) return made.error();
  if (::symlink(folder.c_str(), (mine + "/home").c_str()) != 0 && errno != EEXIST)
    return not_possible("cannot write into " + mine + ": " + errno_text(errno));
  return mine + '/' + name;
}

Status make_out(const std::string& folder, const std::string& name, std::int64_t room,
                const std::vector<std::string>& others) {
  if (has_room(folder, room)) return {};  // the job makes it
  std::string seen = folder + " (" + mebibytes(free_bytes(folder)) + " free)";
  for (const std::string& place : others) {
    seen += ", " + place + " (" + mebibytes(free_bytes(place)) + ")";
    if (!has_room(place, room)) continue;
    const Result<std::string> made = make_elsewhere(folder, place, name);
    if (!made) return made.error();
    if (::symlink(made->c_str(), (folder + '/' + name + "/out").c_str()) != 0)
      return not_possible("cannot write into " + folder + ": " + errno_text(errno));
    return {};
  }
  return not_possible(
      "there is no place for " + mebibytes(room) + " of samples on this machine; looked at " + seen,
      "make room there, or measure less in one cell");
}

Status write_job(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) return not_possible("cannot write " + path, "make room there");
  return {};
}

// Where the keeper of this folder can be asked: itself, or what its `home` points to.
std::string home_of(const std::string& folder) {
  std::error_code error;
  const fs::path home = fs::read_symlink(folder + "/home", error);
  return error ? folder : home.string();
}

// howlate.TOKEN: 16 hexadecimal digits, as howlate draws them. Whatever else begins alike is the user's.
bool is_session_name(std::string_view name) {
  constexpr std::string_view prefix = "howlate.";
  return name.starts_with(prefix) && name.size() == prefix.size() + 16 &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

bool is_mine_and_old(const std::string& folder) {
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         std::time(nullptr) - info.st_mtime > young_s;
}

}  // namespace

bool is_work_name(const std::string& name) {
  return !name.empty() && name.size() < 64 && std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
  });
}

Status make_work(const std::string& folder, const std::string& name, const std::string& job,
                 std::int64_t room, const std::vector<std::string>& others) {
  const std::string work = folder + '/' + name;
  if (::access((work + "/ready").c_str(), F_OK) == 0) return {};  // asked for again: the answer was lost
  remove_work(folder, name);
  if (const Status made = make_folder(work); !made) return made;
  Status status = make_out(folder, name, room, others);
  if (status) status = write_job(work + "/job", job);
  if (status) status = write_job(work + "/ready", "");
  if (!status) remove_work(folder, name);
  return status;
}

void remove_work(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  for (const std::string& other : others_of(folder)) fs::remove_all(other + '/' + name, ignored);
  fs::remove_all(folder + '/' + name, ignored);
}

void remove_session(const std::string& folder) {
  std::error_code ignored;
  for (const std::string& other : others_of(folder)) fs::remove_all(other, ignored);
  fs::remove_all(folder, ignored);
}

bool any_line_was_killed(const std::string& work) {
  for (int line = 0;; ++line) {
    const auto status = read_text(work + "/out/" + std::to_string(line) + "/status");
    if (!status) return ::access((work + "/out/" + std::to_string(line)).c_str(), F_OK) == 0;
    if (status->starts_with("signal")) return true;
  }
}

std::string work_report(const std::string& work, int code) {
  JsonWriter json;
  json.begin_object().member("code", code).key("lines").begin_array();
  for (int line = 0;; ++line) {
    const std::string folder = work + "/out/" + std::to_string(line);
    if (::access(folder.c_str(), F_OK) != 0) break;
    const auto status = read_text(folder + "/status");
    json.begin_object().member("status", status.value_or("unknown"));
    json.member("stderr", last_words(folder + "/stderr")).end_object();
  }
  const std::string out = work + "/out";
  json.end_array().member("free_bytes", free_bytes(::access(out.c_str(), F_OK) == 0 ? out : work));
  json.member("errors", last_words(work + "/errors"));
  return json.member("restored", last_words(work + "/restored")).end_object().take();
}

std::vector<std::string> living_sessions(const std::vector<std::string>& places) {
  std::vector<std::string> living;
  for (const std::string& place : places) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
      const std::string folder = entry.path().string();
      if (!is_session_name(entry.path().filename().string())) continue;
      struct stat info {};
      if (::lstat(folder.c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
      const std::string home = home_of(folder);
      if (has_keeper(home)) {
        if (home == folder) living.push_back(folder);
      } else if (is_mine_and_old(folder)) {
        fs::remove_all(folder, error);
      }
    }
  }
  return living;
}

}  // namespace howlate
