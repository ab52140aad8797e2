// Entry points whose parts have not landed yet: weak, so that the real ones take their place. This file goes when they have.
#include <cstdio>
#include <cstdlib>

#include "cell/loads.hpp"
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

__attribute__((weak)) std::span<const ParamSpec> load_common_params() { return {}; }
__attribute__((weak)) ExitCode run_load_command(const std::vector<std::string>& /*argv*/) { return absent("loads"); }

struct LoadSet::Running {};
#define HOWLATE_WEAK __attribute__((weak))
HOWLATE_WEAK LoadSet::LoadSet() = default;
HOWLATE_WEAK LoadSet::LoadSet(LoadSet&& other) noexcept = default;
HOWLATE_WEAK LoadSet& LoadSet::operator=(LoadSet&& other) noexcept = default;
HOWLATE_WEAK LoadSet::~LoadSet() = default;
HOWLATE_WEAK Result<LoadSet> LoadSet::start(const std::vector<std::string>& specs, const std::vector<int>& /*cpus*/) {
  if (!specs.empty()) return not_possible("this build has no loads");
  return LoadSet();
}
HOWLATE_WEAK std::size_t LoadSet::size() const { return 0; }
HOWLATE_WEAK const std::string& LoadSet::name(std::size_t /*load*/) const { std::abort(); }
HOWLATE_WEAK const std::string& LoadSet::spec(std::size_t /*load*/) const { std::abort(); }
HOWLATE_WEAK pid_t LoadSet::pid(std::size_t /*load*/) const { std::abort(); }
HOWLATE_WEAK const LoadReport& LoadSet::latest(std::size_t /*load*/) { std::abort(); }
HOWLATE_WEAK void LoadSet::mark() {}
HOWLATE_WEAK Result<std::vector<LoadOutcome>> LoadSet::stop() { return std::vector<LoadOutcome>(); }
HOWLATE_WEAK std::string LoadOutcome::to_json() const { return "{}"; }

}  // namespace howlate
