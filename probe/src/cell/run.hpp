// One test from its command line to its exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cell/cell.hpp"
#include "cell/length.hpp"
#include "core/result.hpp"
#include "tests/test.hpp"

namespace howlate {

// Parses `argv` (the words after the test's name) against the common options and the test's own, runs the
// test, prints its summary, or one sentence on standard error, and answers with the process's exit code.
ExitCode run_test(const Test& test, const std::vector<std::string>& argv);

// The same words, through the same checks, up to where the measurement would begin: what refuses it, what it warns of already, and what
// it would be.
struct Planned {
  Planned() = default;
  Planned(Error why) : refusal(std::move(why)) {}  // NOLINT(google-explicit-constructor)

  std::optional<Error> refusal;
  std::vector<Warning> warnings;
  std::string options;  // JSON: those given, in their one spelling; "" where they cannot be read
  CellLength length;
  std::int64_t alone_least_ns =
      0;  // its loads run so long before it with nothing measured beside them; 0: they do not
  std::vector<FewActions> few_actions;
};
Planned plan_test(const Test& test, const std::vector<std::string>& argv);

// The options that every test has (docs/probe.md).
std::span<const ParamSpec> common_params();

}  // namespace howlate
