// `howlate-probe list [--json]` and the help pages of tests and loads: all made from the tables.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "loads/load.hpp"
#include "tests/test.hpp"

namespace howlate {

// `argv` are the words after "list".
ExitCode list_command(const std::vector<std::string>& argv);

// What `list --json` prints (docs/probe.md).
std::string list_json();

std::string test_help(const Test& test);
std::string load_help(const Load& load);
std::string probe_help();

}  // namespace howlate
