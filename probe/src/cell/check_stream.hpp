// `howlate-probe check-stream FILE`: what a stream contains, and whether it is intact.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` are the words after "check-stream". Exit code 4 and the place if the stream is cut or damaged.
ExitCode check_stream_command(const std::vector<std::string>& argv);

}  // namespace howlate
