#include "sys/facts_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>

#include "core/text.hpp"

namespace howlate {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20U;

Error unreadable(std::string_view path, int error) {
  std::string message = std::string(path) + ": " + std::strerror(error);
  const auto code = error == EACCES || error == EPERM ? ExitCode::not_possible : ExitCode::broken;
  return {error == ENOENT ? ExitCode::not_possible : code, std::move(message),
          error == EINVAL                     ? "the kernel does not take this value as things are"
          : error == EACCES || error == EPERM ? "run as root"
                                              : ""};
}

}  // namespace

std::string trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\0";
  const auto first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(white) - first + 1));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<long long> to_integer(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return broken(in_quotes(text.substr(0, 40)) + " is not a whole number");
  }
  return value;
}

bool Tree::exists(std::string_view path) const {
  return ::access(at(path).c_str(), F_OK) == 0;
}

Result<std::string> Tree::read(std::string_view path) const {
  const int fd = ::open(at(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return unreadable(path, errno);
  std::string out;
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t many = ::read(fd, buffer.data(), buffer.size());
    if (many < 0 && errno == EINTR) continue;
    if (many < 0) {
      const int error = errno;
      ::close(fd);
      return unreadable(path, error);
    }
    if (many == 0 || out.size() > largest_file) break;
    out.append(buffer.data(), static_cast<std::size_t>(many));
  }
  ::close(fd);
  return out;
}

Result<std::string> Tree::read_text(std::string_view path) const {
  auto whole = read(path);
  if (!whole) return whole.error();
  return trimmed(*whole);
}

Result<long long> Tree::read_integer(std::string_view path) const {
  const auto text = read_text(path);
  if (!text) return text.error();
  auto value = to_integer(*text);
  if (!value) return broken(std::string(path) + ": " + value.error().message);
  return value;
}

Result<std::string> Tree::read_link(std::string_view path) const {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t many = ::readlink(at(path).c_str(), buffer.data(), buffer.size());
  if (many < 0) return unreadable(path, errno);
  return std::string(buffer.data(), static_cast<std::size_t>(many));
}

Status Tree::write(std::string_view path, std::string_view value) const {
  const int fd = ::open(at(path).c_str(), O_WRONLY | O_CLOEXEC | (is_machine() ? 0 : O_TRUNC));
  if (fd < 0) return unreadable(path, errno);
  const ssize_t many = ::write(fd, value.data(), value.size());
  const int error = many < 0 ? errno : EIO;
  ::close(fd);
  if (many != static_cast<ssize_t>(value.size())) return unreadable(path, error);
  return {};
}

std::vector<std::string> Tree::list(std::string_view path) const {
  std::vector<std::string> names;
  DIR* folder = ::opendir(at(path).c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> Tree::numbered(std::string_view path, std::string_view prefix) const {
  std::vector<int> numbers;
  for (const std::string& name : list(path)) {
    if (!name.starts_with(prefix)) continue;
    const auto number = to_integer(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0 && *number <= INT_MAX) numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace howlate
