// Entry points whose parts have not landed yet: weak, so that the real ones take their place. This file goes when they have.
#include <cstdio>

#include "cell/run.hpp"
#include "loads/command.hpp"
#include "loads/load.hpp"

namespace howlate {

namespace {
ExitCode absent(const char* what) {
  std::fprintf(stderr, "howlate-probe: this build has no %s.\n", what);
  return ExitCode::not_possible;
}
}  // namespace

__attribute__((weak)) ExitCode run_test(const Test& /*test*/, const std::vector<std::string>& /*argv*/) { return absent("tests"); }
__attribute__((weak)) std::span<const ParamSpec> common_params() { return {}; }
__attribute__((weak)) std::span<const ParamSpec> load_common_params() { return {}; }
__attribute__((weak)) ExitCode run_load_command(const std::vector<std::string>& /*argv*/) { return absent("loads"); }

}  // namespace howlate
