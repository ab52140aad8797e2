#include "core/called.hpp"

#include <string_view>
#include <utility>

namespace howlate {

namespace {

// What the caller calls this program and, where that is a command of the host's, the host.
std::string& program_name() {
  static std::string name;
  return name;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

void call_program(std::string name) {
  program_name() = std::move(name);
}

std::string as_called(std::string text) {
  constexpr std::string_view by_host = " probe";
  const std::string& name = program_name();
  if (name.empty()) return text;
  replace_all(text, "howlate-probe ", name + " ");
  if (name.ends_with(by_host))
    replace_all(text, "`howlate ", "`" + name.substr(0, name.size() - by_host.size()) + " ");
  return text;
}

}  // namespace howlate
