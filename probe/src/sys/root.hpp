// Where the operating system's files are looked for: "/" on a machine, a fixture's folder in a unit test.
#pragma once

#include <string>
#include <string_view>

namespace howlate {

class Root {
 public:
  Root() = default;
  explicit Root(std::string prefix) : prefix_(std::move(prefix)) {}

  // at("/proc/stat") is "/proc/stat" on the machine and "<fixture>/proc/stat" in a test.
  [[nodiscard]] std::string at(std::string_view path) const { return prefix_ + std::string(path); }

 private:
  std::string prefix_;
};

}  // namespace howlate
