// `howlate-probe load NAME[:TARGET][,option=value...] [options]`: one load, until it is stopped or its
// duration has passed.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` is what follows the word `load`. Says what went wrong on standard error itself.
ExitCode run_load_command(const std::vector<std::string>& argv);

}  // namespace howlate
