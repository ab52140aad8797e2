// How to grant this program the rights that a measurement needs.
#pragma once

#include <string>

namespace howlate {

// The file of this program; "" if /proc does not say.
std::string own_path();

// The command that gives this program's file the rights of the measuring task; "" where the file is a session's (docs/ssh.md) and
// gone when it ends.
std::string command_that_grants();

}  // namespace howlate
