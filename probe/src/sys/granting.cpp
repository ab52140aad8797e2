#include "sys/granting.hpp"

#include <unistd.h>

#include <climits>

namespace howlate {

std::string own_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path;
}

std::string command_that_grants() {
  const std::string path = own_path();
  if (path.empty() || path.find("/howlate.") != std::string::npos) return "";
  return "/sbin/setcap cap_sys_nice,cap_ipc_lock=ep " + path;
}

}  // namespace howlate
