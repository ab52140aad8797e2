#include "irq/no_module.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "sys/rights.hpp"

namespace howlate {

namespace {

std::string release() {
  struct utsname name {};
  return ::uname(&name) == 0 ? name.release : "?";
}

}  // namespace

Error no_module(std::string_view name, const Root& root, std::string_view parameters) {
  const std::string module(name);
  const std::string line = module + (parameters.empty() ? "" : " ") + std::string(parameters);
  if (!root.read_text("/proc/modules"))
    return not_possible("this kernel was built without modules, so " + module + " cannot be loaded",
                        "Use a kernel that has them (CONFIG_MODULES)");
  if (root.read_text("/sys/module/module/parameters/sig_enforce").value_or("N") == "Y")
    return not_possible("the module " + module + " is not loaded, and this kernel takes signed modules only",
                        "Sign it (docs/kmod.md)");
  if (::access(root.at("/lib/modules/" + release() + "/build").c_str(), F_OK) != 0)
    return not_possible(
        "the module " + module + " is not loaded, and the headers to build it are not installed",
        "Install linux-headers-" + release() + " and build it (docs/kmod.md)");
  return not_possible("the module " + module + " is not loaded",
                      "Build it (docs/kmod.md) and call 'modprobe " + line + "'");
}

Result<Fd> open_irq_device(const std::string& path, int flags) {
  Fd device(::open(path.c_str(), flags | O_CLOEXEC));
  if (device.valid()) return device;
  return not_opened(path, errno);
}

Error not_opened(const std::string& path, int error) {
  std::string remedy;
  std::string why = errno_text(error);
  if (error == EPERM) {  // the device is there: its module refuses the caller
    why += "; its module is loaded, and CAP_SYS_RAWIO is missing";
    remedy = remedy_of_root();
  }
  if (error == EACCES) {
    why += "; the rights of the device do not admit the caller";
    remedy = remedy_of_root();
  }
  if (error == ENOENT) remedy = "Load the module of kmod/ as root (docs/kmod.md)";
  if (error == EBUSY) remedy = "Let the other measurement end first";
  return not_possible("cannot open " + path + ": " + why, remedy);
}

Error not_started(std::string_view name, int error) {
  if (error == EPROTONOSUPPORT)
    return not_possible("the module " + std::string(name) + " is of another version than this probe",
                        "Build and load the one that belongs to it (docs/kmod.md)");
  return broken("the module " + std::string(name) + " does not start: " + errno_text(error));
}

}  // namespace howlate
