// One test from its command line to its exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "tests/test.hpp"

namespace howlate {

// Parses `argv` (the words after the test's name) against the common options and the test's own, runs the
// test, prints its summary, or one sentence on standard error, and answers with the process's exit code.
ExitCode run_test(const Test& test, const std::vector<std::string>& argv);

// The same words, through the same checks, up to where the measurement would begin: what refuses it, and what it warns of already.
struct Checked {
  std::optional<Error> refusal;
  std::vector<std::string> warnings;
};
Checked check_test(const Test& test, const std::vector<std::string>& argv);

// The options that every test has (docs/probe.md).
std::span<const ParamSpec> common_params();

}  // namespace howlate
