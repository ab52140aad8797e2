// How this program gets the rights that it measures with.
#pragma once

#include <string>

namespace howlate {

// The file of this program; "" where /proc does not tell.
std::string own_path();

// The command that gives this program's file the rights of the measuring task; "" where the file is a session's (docs/ssh.md) and
// gone when it ends.
std::string command_that_grants();

}  // namespace howlate
