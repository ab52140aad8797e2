// The rights of this process, and how it can get one that it lacks.
#pragma once

#include <cstdint>
#include <string>

#include "sys/root.hpp"

namespace howlate {

enum class Capability : unsigned { ipc_lock = 14, sys_admin = 21, sys_nice = 23 };

// What decides which rights this process has, from /proc/self.
struct Caller {
  bool root = false;  // its effective user
  bool user_namespace =
      false;  // not the machine's own: the kernel's scheduler, memory and tracing ask for rights in that
  bool filtered = false;  // by seccomp
  std::uint64_t effective = 0;
  std::uint64_t bounding = ~0ULL;  // what neither root nor a file's capabilities can exceed here

  // In the machine's own user namespace.
  [[nodiscard]] bool has(Capability capability) const { return !user_namespace && in(effective, capability); }
  // Whether root has it here.
  [[nodiscard]] bool can_be_granted(Capability capability) const {
    return !user_namespace && in(bounding, capability);
  }

 private:
  static bool in(std::uint64_t set, Capability capability) {
    return ((set >> static_cast<unsigned>(capability)) & 1U) != 0;
  }
};

// Of the machine itself it is read once: a process keeps its rights while it keeps its user.
Caller read_caller(const Root& root);

bool has_capability(const Root& root, Capability capability);

// What to do where something was refused that is root's: "run as root", unless this is root already, or root has not
// got the right here.
std::string remedy_of_root(const Caller& caller = read_caller({}));

// The options that give a container the rights of the measuring task.
inline constexpr std::string_view container_options =
    "--cap-add SYS_NICE --cap-add IPC_LOCK --ulimit rtprio=99 --ulimit memlock=-1";

}  // namespace howlate
