// `howlate-probe check-stream FILE`: what is in a stream, and whether it holds.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` are the words after "check-stream". Exit code 4 where the stream is cut or damaged, with where.
ExitCode check_stream_command(const std::vector<std::string>& argv);

}  // namespace howlate
