#include "sys/tracefs.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sys/rights.hpp"

namespace howlate {

namespace {

// Older C libraries do not have these calls; their numbers are the same on all architectures.
constexpr long call_fsopen = 430, call_fsconfig = 431, call_fsmount = 432;
constexpr unsigned fsopen_cloexec = 1, fsmount_cloexec = 1, fsconfig_create = 6;

Result<Fd> mount_detached() {
  const Fd context(static_cast<int>(::syscall(call_fsopen, "tracefs", fsopen_cloexec)));
  if (!context.valid()) {
    const int error = errno;
    if (error == EPERM) return not_possible("tracing is for root alone", remedy_of_root());
    return not_possible(
        "this kernel has no tracefs, or does not let a process mount it for itself: " + errno_text(error),
        "Mount it with 'mount -t tracefs nodev /sys/kernel/tracing'");
  }
  if (::syscall(call_fsconfig, context.get(), fsconfig_create, nullptr, nullptr, 0) != 0)
    return not_possible("tracefs cannot be mounted: " + errno_text(errno), remedy_of_root());
  Fd mount(static_cast<int>(::syscall(call_fsmount, context.get(), fsmount_cloexec, 0)));
  if (!mount.valid())
    return not_possible("tracefs cannot be mounted: " + errno_text(errno), remedy_of_root());
  return mount;
}

}  // namespace

Result<Tracefs> Tracefs::open(const Root& root) {
  for (const std::string_view place : tracing_places) {
    if (root.exists(std::string(place) + "/instances")) return Tracefs(root.at(place));
    if (::access(root.at(std::string(place) + "/.").c_str(), X_OK) != 0 && errno == EACCES)
      return not_possible("tracing is for root alone", remedy_of_root());
  }
  if (!root.is_machine()) return not_possible("there is no tracing below /sys/kernel/tracing");
  auto mount = mount_detached();
  if (!mount) return mount.error();
  std::string folder = "/proc/self/fd/" + std::to_string(mount->get());
  if (::access((folder + "/instances").c_str(), F_OK) != 0)
    return not_possible("this kernel's tracing has no instances", "");
  return Tracefs(std::move(folder), std::move(*mount));
}

}  // namespace howlate
