#include "job/module.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "job/kernel_log.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

std::string remedy_for(int error) {
  switch (error) {
    case EPERM:
      return "Run it as root, on a kernel that may load modules";
    case ENOSYS:
      return "This kernel was built without modules";
    case ENOENT:
      return "The kernel misses a symbol: a module that this one needs has to be loaded before it";
    case ENOEXEC:
      return "The module is of another kernel";
    default:
      return "";
  }
}

std::string remedy_for_staying(int error) {
  switch (error) {
    case EPERM:
      return "Run it as root, on a kernel that may unload modules";
    case ENOSYS:
      return "This kernel cannot unload modules";
    case EWOULDBLOCK:
      return "Something uses it: end that first";
    default:
      return "";
  }
}

}  // namespace

Status load_module(const JobLine& line) {
  const std::string& name = line.argv[1];
  const std::string path = "/lib/modules/" + name + ".ko";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid())
    return not_possible("the module " + name + " cannot be read from " + path + ": " + errno_text(errno),
                        "Put its file there");
  const std::string parameters = module_parameters(line);
  KernelLog log;
  if (::syscall(SYS_finit_module, file.get(), parameters.c_str(), 0) == 0 || errno == EEXIST) return {};
  const int error = errno;
  const std::string said = log.last_text();
  return not_possible("the module " + name + " cannot be loaded: " + errno_text(error) +
                          (said.empty() ? "" : "; the kernel's last word is '" + said + "'"),
                      remedy_for(error));
}

Status unload_module(const std::string& name) {
  if (::syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0) return {};
  const int error = errno;
  const std::string why = error == ENOENT ? "it is not loaded" : errno_text(error);
  return not_possible("the module " + name + " cannot be unloaded: " + why, remedy_for_staying(error));
}

}  // namespace howlate
