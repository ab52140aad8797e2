#include "sys/core_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/file.hpp"

namespace howlate {
namespace {

struct CoreWords {
  std::string_view title;
  std::string_view file;  // that a kernel with this core has, and no other
  std::string_view start;
};

constexpr CoreWords cobalt = {
    "Cobalt", "/sys/module/xenomai/parameters/state",
    "`corectl --start` as root starts a stopped one, and `xenomai.state=enabled` boots with it"};
constexpr CoreWords evl = {"EVL", "/sys/devices/virtual/evl/control/state",
                           "`evl start` as root starts a stopped one, and `evl.state=enabled` boots with it"};

// Cobalt has a parameter for the state at boot and no file for today's. While it runs it has the tick of each of its CPUs, of which the
// first is always one, and Linux has a proxy's.
Result<std::string> cobalt_state(const Root& root) {
  if (auto boot = root.read_text(cobalt.file); !boot) return boot.error();
  if (!root.exists("/proc/xenomai/version")) return std::string("disabled");
  const auto device = root.read_text("/sys/devices/system/clockevents/clockevent0/current_device");
  if (!device) return device.error();
  return std::string(*device == "proxy" ? "running" : "stopped");
}

}  // namespace

Result<std::string> read_core_state(const Root& root, std::string_view core) {
  return core == "cobalt" ? cobalt_state(root) : root.read_text(evl.file);
}

Result<std::string> read_cobalt_clock(const Root& root) {
  if (const auto state = cobalt_state(root); !state || *state != "running") {
    Error closed = state ? not_possible("the Cobalt core is " + *state) : state.error();
    closed.absent = true;
    return closed;
  }
  return root.read_text("/proc/xenomai/clock/coreclk");
}

Status core_runs(const Root& root, std::string_view core) {
  const CoreWords& words = core == "cobalt" ? cobalt : evl;
  const std::string title(words.title);
  if (!root.exists(words.file))
    return not_possible(
        "this kernel has no " + title + " core (" + std::string(words.file) + " does not exist)",
        "see docs/cores.md for how to get such a kernel");
  const auto state = read_core_state(root, core);
  if (!state)
    return not_possible("whether the " + title + " core runs is not known: " + state.error().message);
  if (*state == "running") return {};
  return not_possible("the " + title + " core is " + *state, std::string(words.start));
}

Result<bool> evl_admits_caller(const Root& root) {
  constexpr std::string_view control = "/dev/evl/control";
  if (!root.exists(control))
    return Error{ExitCode::not_possible, std::string(control) + ": " + errno_text(ENOENT), {}, true};
  return ::faccessat(AT_FDCWD, root.at(control).c_str(), R_OK | W_OK, AT_EACCESS) == 0;
}

}  // namespace howlate
