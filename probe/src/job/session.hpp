// `howlate-probe session VERB FOLDER ...`: what howlate calls on a machine that it measures from elsewhere (docs/ssh.md).
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` is what follows the word `session`. Reports errors on standard error itself.
ExitCode session_command(const std::vector<std::string>& argv);

}  // namespace howlate
