#include "sys/rights.hpp"

#include <unistd.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "sys/file.hpp"

namespace howlate {

namespace {

constexpr std::string_view machines_namespace = "user:[4026531837]";  // PROC_USER_INIT_INO, linux/proc_ns.h

// The rest of the line of /proc/self/status that begins with `name`.
std::string value_of(const std::vector<std::string>& lines, std::string_view name) {
  for (const std::string& line : lines)
    if (line.starts_with(name)) return trimmed(std::string_view(line).substr(name.size()));
  return {};
}

std::uint64_t mask(const std::string& digits, std::uint64_t unread) {
  std::uint64_t bits = unread;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  return bits;
}

// A map of all users onto themselves is the machine's own, or of a container that root made with just that map.
bool in_user_namespace(const Root& root) {
  char own[64];
  const ssize_t length = ::readlink(root.at("/proc/self/ns/user").c_str(), own, sizeof own);
  if (length > 0 && std::string_view(own, static_cast<std::size_t>(length)) != machines_namespace)
    return true;
  std::string map;
  if (read_whole(root.at("/proc/self/uid_map"), map) != 0) return false;
  return parts_of(trimmed(map), ' ') != std::vector<std::string>{"0", "0", "4294967295"};
}

// Not by Root::read(), whose errors name a remedy that depends on what is read here.
Caller read_from(const Root& root) {
  std::string status;
  read_whole(root.at("/proc/self/status"), status);
  const auto lines = parts_of(status, '\n');
  Caller caller;
  const auto ids = parts_of(value_of(lines, "Uid:"), '\t');  // real, effective, saved, of files
  caller.root = ids.size() > 1 && ids[1] == "0";
  caller.user_namespace = in_user_namespace(root);
  const std::string filter = value_of(lines, "Seccomp:");
  caller.filtered = !filter.empty() && filter != "0";
  caller.effective = mask(value_of(lines, "CapEff:"), 0);
  caller.bounding = mask(value_of(lines, "CapBnd:"), ~0ULL);
  return caller;
}

}  // namespace

Caller read_caller(const Root& root) {
  static const uid_t user = ::geteuid();
  if (!root.is_machine() || ::geteuid() != user) return read_from(root);
  static const Caller own = read_from(root);
  return own;
}

bool has_capability(const Root& root, Capability capability) {
  return read_caller(root).has(capability);
}

std::string remedy_of_root(const Caller& caller) {
  if (caller.user_namespace)
    return "run as root outside of this user namespace (a rootless container, 'unshare -U')";
  if (!caller.can_be_granted(Capability::sys_admin))
    return "run as root outside of this container, or start the container with '--privileged'";
  if (!caller.root) return "run as root";
  if (!caller.has(Capability::sys_admin)) return "run as root with all capabilities";
  return "the kernel lets nobody do it here (a filter, lockdown or a security module)";
}

}  // namespace howlate
