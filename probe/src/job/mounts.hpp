// The file systems that a guest's tests, loads and modules expect.
#pragma once

#include "core/result.hpp"

namespace howlate {

// Mounts all of them; what a kernel does not have and no test needs is left out. For the machine's first process.
Status mount_all();

// Standard input, output and error on /dev/null, and a fixed environment.
Status take_standard_place();

// Brings the loopback card up. Without a network stack, nothing happens.
void loopback_up();

// As many tasks as a test may ask for: the kernel allows fewer than 4096 in a guest of 512 MiB. It sets a limit, and no
// path through the kernel depends on it.
void allow_threads();

}  // namespace howlate
