#include "sys/root.hpp"

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
#include "sys/file.hpp"
#include "sys/rights.hpp"

namespace howlate {
namespace {

Error unreadable(std::string_view path, int error) {
  std::string message = std::string(path) + ": " + std::strerror(error);
  const auto code = error == EACCES || error == EPERM ? ExitCode::not_possible : ExitCode::broken;
  return {error == ENOENT ? ExitCode::not_possible : code, std::move(message),
          error == EINVAL                     ? "the kernel does not take this value as things are"
          : error == EACCES || error == EPERM ? remedy_of_root()
                                              : std::string(),
          error == ENOENT};
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

std::optional<std::int64_t> number_in_line(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  while (at != std::string_view::npos && at != 0 && text[at - 1] != '\n') at = text.find(name, at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::int64_t number = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

Result<long long> to_integer(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return broken(in_quotes(text.substr(0, 40)) + " is not a whole number");
  }
  return value;
}

bool Root::exists(std::string_view path) const {
  return ::access(at(path).c_str(), F_OK) == 0;
}

Result<std::string> Root::read(std::string_view path) const {
  std::string content;
  if (const int error = read_whole(at(path), content); error != 0) return unreadable(path, error);
  return content;
}

Result<std::string> Root::read_text(std::string_view path) const {
  auto whole = read(path);
  if (!whole) return whole.error();
  return trimmed(*whole);
}

Result<long long> Root::read_integer(std::string_view path) const {
  const auto text = read_text(path);
  if (!text) return text.error();
  auto value = to_integer(*text);
  if (!value) return broken(std::string(path) + ": " + value.error().message);
  return value;
}

Result<std::string> Root::read_line(std::string_view path, std::string_view name) const {
  const auto whole = read(path);
  if (!whole) return whole.error();
  for (const std::string& line : parts_of(*whole, '\n'))
    if (line.starts_with(name)) return trimmed(std::string_view(line).substr(name.size()));
  return broken(std::string(path) + ": no line " + in_quotes(name));
}

Result<std::string> Root::read_link(std::string_view path) const {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t many = ::readlink(at(path).c_str(), buffer.data(), buffer.size());
  if (many < 0) return unreadable(path, errno);
  return std::string(buffer.data(), static_cast<std::size_t>(many));
}

Status Root::write(std::string_view path, std::string_view value) const {
  const Fd fd(::open(at(path).c_str(), O_WRONLY | O_CLOEXEC | (is_machine() ? 0 : O_TRUNC)));
  if (!fd.valid()) return unreadable(path, errno);
  const ssize_t many = ::write(fd.get(), value.data(), value.size());
  const int error = many < 0 ? errno : EIO;
  if (many != static_cast<ssize_t>(value.size())) return unreadable(path, error);
  return {};
}

std::vector<std::string> Root::list(std::string_view path) const {
  std::vector<std::string> names;
  const OpenFolder folder(::opendir(at(path).c_str()));
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> Root::numbered(std::string_view path, std::string_view prefix) const {
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
