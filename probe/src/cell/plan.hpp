// `howlate-probe plan [ARGV ...]`: which of these commands this machine would refuse, and why; nothing is started or changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// `argv` are the words after "plan".
ExitCode plan_command(const std::vector<std::string>& argv);

// What it answers to one command, a JSON array of words (a test's name and its options): one line of JSON, without its end.
std::string plan_line(std::string_view command);

}  // namespace howlate
