// `howlate-probe plan [COMMAND ...]`: of each command its options in one spelling, how long it takes and how much it writes, or why this
// machine would refuse it; nothing is started or changed.
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
