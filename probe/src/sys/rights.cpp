#include "sys/rights.hpp"

#include <charconv>
#include <string_view>

namespace howlate {

namespace {

constexpr std::string_view status = "/proc/self/status";
constexpr std::string_view machines_namespace = "user:[4026531837]";  // PROC_USER_INIT_INO, linux/proc_ns.h

std::uint64_t mask(const Root& root, std::string_view name, std::uint64_t unread) {
  const auto digits = root.read_line(status, name);
  std::uint64_t bits = unread;
  if (digits) std::from_chars(digits->data(), digits->data() + digits->size(), bits, 16);
  return bits;
}

// A map of all users onto themselves is the machine's own, or of a container that root made with just that map.
bool in_user_namespace(const Root& root) {
  const auto own = root.read_link("/proc/self/ns/user");
  if (own && *own != machines_namespace) return true;
  const auto map = root.read_text("/proc/self/uid_map");
  if (!map) return false;
  return parts_of(*map, ' ') != std::vector<std::string>{"0", "0", "4294967295"};
}

}  // namespace

Caller read_caller(const Root& root) {
  Caller caller;
  const auto users = root.read_line(status, "Uid:");  // real, effective, saved, of files
  const auto ids = users ? parts_of(*users, '\t') : std::vector<std::string>{};
  caller.root = ids.size() > 1 && ids[1] == "0";
  caller.user_namespace = in_user_namespace(root);
  caller.filtered = root.read_line(status, "Seccomp:").value_or("0") != "0";
  caller.effective = mask(root, "CapEff:", 0);
  caller.bounding = mask(root, "CapBnd:", ~0ULL);
  return caller;
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
