// `howlate-probe job FILE --out DIR [--limit TIME]`: a job by hand, on a board, over SSH.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` is what follows the word `job`. Reports errors on standard error itself.
ExitCode job_command(const std::vector<std::string>& argv);

}  // namespace howlate
