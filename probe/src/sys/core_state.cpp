#include "sys/core_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/text.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

struct CoreWords {
  std::string_view title;
  std::string_view file;  // that a kernel with this core has, and no other
  std::string_view runs;  // that it has where it was started
  std::string_view start;
};

constexpr CoreWords cobalt = {
    "Cobalt", "/sys/module/xenomai/parameters/state", "/proc/xenomai/version",
    "`corectl --start` as root starts a stopped one, and `xenomai.state=enabled` boots with it"};
constexpr CoreWords evl = {"EVL", "/sys/devices/virtual/evl/control/state",
                           "/sys/devices/virtual/evl/control/state",
                           "`evl start` as root starts a stopped one, and `evl.state=enabled` boots with it"};

// Whether the kernel's config, where it can be read, has this line.
bool has_option(const Root& root, const std::string& line) {
  const auto release = root.read_text("/proc/sys/kernel/osrelease");
  if (!release) return false;
  for (const std::string& path : {"/boot/config-" + *release, "/lib/modules/" + *release + "/config"})
    if (const auto config = root.read(path);
        config && ("\n" + *config).find("\n" + line + "\n") != std::string::npos)
      return true;
  return false;
}

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

namespace {

// A core that is in the kernel and did not start: EVL then has none of its files, and Cobalt's keeps what was asked for at boot.
Status did_not_start(const Root& root, std::string_view core) {
  if (core == "evl") {
    const auto line = root.read_text("/proc/cmdline");
    const bool asked = line && (" " + *line).find(" evl.state=") != std::string::npos;
    if (!asked && !has_option(root, "CONFIG_EVL=y")) return {};
    return not_possible("the EVL core is in this kernel and disabled", "`evl.state=enabled` boots with it");
  }
  const auto asked = root.read_text(cobalt.file);
  if (!asked || *asked == "disabled" || root.exists("/proc/xenomai/version")) return {};
  return not_possible("the Cobalt core is disabled, although it was asked for at boot",
                      "Boot with CPU 0 in `xenomai.supported_cpus`; the kernel's log (`dmesg`) says what "
                      "else kept it from starting");
}

}  // namespace

Status core_runs(const Root& root, std::string_view core) {
  const CoreWords& words = core == "cobalt" ? cobalt : evl;
  const std::string title(words.title);
  if (Status off = did_not_start(root, core); !off && !root.exists(words.runs)) return off;
  if (!root.exists(words.file))
    return not_possible(
        "this kernel has no " + title + " core (" + std::string(words.file) + " does not exist)",
        core == "evl" ? "If it was built with CONFIG_EVL, `evl.state=enabled` boots with it; docs/cores.md "
                        "says how to get such a kernel"
                      : "see docs/cores.md for how to get such a kernel");
  const auto state = read_core_state(root, core);
  if (!state)
    return not_possible("whether the " + title + " core runs is not known: " + state.error().message);
  if (*state == "running") return {};
  return not_possible("the " + title + " core is " + *state, std::string(words.start));
}

Status cobalt_admits_caller(const Root& root) {
  for (const char* path : {"/dev/rtdm/memdev-private", "/dev/rtdm/memdev-shared"})
    if (root.exists(path) && ::faccessat(AT_FDCWD, root.at(path).c_str(), R_OK | W_OK, AT_EACCESS) != 0)
      return not_possible(std::string("the caller may not read and write ") + path,
                          "Run it as root, or give the group of `xenomai.allowed_group` the devices below "
                          "/dev/rtdm by a rule of udev");
  return {};
}

std::string reason_of_refusal(const std::string& stderr_text) {
  const auto lines = parts_of(stderr_text, '\n');
  for (const auto& line : lines)
    for (const char* word : {"Permission denied", "Operation not permitted", "cannot open"})
      if (line.find(word) != std::string::npos) return trimmed(line);
  return lines.empty() ? "it says nothing" : trimmed(lines.back());
}

Result<bool> evl_admits_caller(const Root& root) {
  constexpr std::string_view control = "/dev/evl/control";
  if (!root.exists(control))
    return Error{ExitCode::not_possible, std::string(control) + ": " + errno_text(ENOENT), {}, true};
  return ::faccessat(AT_FDCWD, root.at(control).c_str(), R_OK | W_OK, AT_EACCESS) == 0;
}

}  // namespace howlate
