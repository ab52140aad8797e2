// The rights of this process.
#pragma once

#include "sys/root.hpp"

namespace howlate {

enum class Capability : unsigned { ipc_lock = 14, sys_nice = 23 };

// In the effective set of /proc/self/status.
bool has_capability(const Root& root, Capability capability);

}  // namespace howlate
