// The folder of the kernel's tracing. Where it is mounted nowhere this process has a mount of its own, which is attached
// to no folder: nobody else sees it, and it goes with the process.
#pragma once

#include <string>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

class Tracefs {
 public:
  // Mounted at /sys/kernel/tracing or below debugfs, else (on the machine itself, from Linux 5.2) mounted detached.
  static Result<Tracefs> open(const Root& root);

  // Complete, with the root: "/sys/kernel/tracing", "/proc/self/fd/5".
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  explicit Tracefs(std::string folder, Fd mount = {})
      : mount_(std::move(mount)), folder_(std::move(folder)) {}
  Fd mount_;
  std::string folder_;
};

// Where tracefs is mounted on most machines.
inline constexpr std::string_view tracing_places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

}  // namespace howlate
