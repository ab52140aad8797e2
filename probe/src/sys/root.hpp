// The root of the operating system's files, and their reading: "/" for this machine, a folder for a captured one or a fixture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

class Root {
 public:
  Root() = default;
  explicit Root(std::string_view root) : root_(root) {
    while (!root_.empty() && root_.back() == '/') root_.pop_back();
  }
  [[nodiscard]] bool is_machine() const { return root_.empty(); }
  // at("/proc/stat") is "/proc/stat" on the machine and "<fixture>/proc/stat" in a test.
  [[nodiscard]] std::string at(std::string_view path) const { return root_ + std::string(path); }

  [[nodiscard]] bool exists(std::string_view path) const;
  // The whole file, unchanged. The error's message is "<path>: <reason>", without the root.
  [[nodiscard]] Result<std::string> read(std::string_view path) const;
  // Without white space at its ends.
  [[nodiscard]] Result<std::string> read_text(std::string_view path) const;
  [[nodiscard]] Result<long long> read_integer(std::string_view path) const;
  // The rest of the line that begins with `name`: "MemTotal:", "Cpus_allowed_list:".
  [[nodiscard]] Result<std::string> read_line(std::string_view path, std::string_view name) const;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const;
  // One write(2) of the whole value; the error's message is "<path>: <reason>".
  [[nodiscard]] Status write(std::string_view path, std::string_view value) const;
  // The names in a folder, sorted, without "." and ".."; empty if it cannot be read.
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  // Names made of `prefix` and digits ("cpu0", "cpu12"), by number.
  [[nodiscard]] std::vector<int> numbered(std::string_view path, std::string_view prefix) const;

 private:
  std::string root_;
};

std::string trimmed(std::string_view text);
std::vector<std::string> parts_of(std::string_view text, char separator);  // empty parts left out
Result<long long> to_integer(std::string_view text);                       // decimal, whole text
// The number behind `name` at the beginning of a line: "ctxt 99" has 99 behind "ctxt".
std::optional<std::int64_t> number_in_line(std::string_view text, std::string_view name);

}  // namespace howlate
