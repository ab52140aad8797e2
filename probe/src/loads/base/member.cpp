#include "loads/base/member.hpp"

#include <cstddef>

namespace howlate {
namespace {

// Behind the string that begins at `at` (its quote); npos if it does not end.
std::size_t past_string(std::string_view line, std::size_t at) {
  for (++at; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Behind the value that begins at `at`.
std::size_t past_value(std::string_view line, std::size_t at) {
  int depth = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (c == '"') {
      at = past_string(line, at);
      if (at == std::string_view::npos || depth == 0) return at;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0 && (c == '}' || c == ']')) return at;
  }
  return std::string_view::npos;
}

std::size_t past_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && (line[at] == ' ' || line[at] == ':' || line[at] == ',')) ++at;
  return at;
}

}  // namespace

std::string_view json_member(std::string_view line, std::string_view key) {
  std::size_t at = line.find('{');
  if (at == std::string_view::npos) return {};
  for (at = past_blanks(line, at + 1); at < line.size() && line[at] == '"'; at = past_blanks(line, at)) {
    const std::size_t key_end = past_string(line, at);
    if (key_end == std::string_view::npos) return {};
    const std::string_view name = line.substr(at + 1, key_end - at - 2);
    const std::size_t value = past_blanks(line, key_end);
    const std::size_t value_end = past_value(line, value);
    if (value_end == std::string_view::npos) return {};
    if (name == key) return line.substr(value, value_end - value);
    at = value_end;
  }
  return {};
}

}  // namespace howlate
