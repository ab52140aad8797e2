#include "cell/run.hpp"

#include <signal.h>

#include "cell/cell.hpp"
#include "sys/memory.hpp"
#include "sys/process.hpp"
#include "sys/standard.hpp"

namespace howlate {

namespace {

constexpr ParamSpec common[] = {
    {"stream", ParamType::text, "", "", "", "write the raw stream to this new file (docs/stream.md)"},
    {"json", ParamType::flag, "", "", "", "the summary as JSON on standard output"},
    {"quiet", ParamType::flag, "", "", "", "no live line, no summary; warnings on standard error"},
    {"progress", ParamType::flag, "", "", "",
     "a line a second on standard output: progress ACTIVATIONS ELAPSED_NS LATENCY_NS_MAX"},
    {"record", ParamType::choice, "stream", "", "stream|memory",
     "write samples on the way, or keep all in memory until the end"},
    {"load", ParamType::text, "", "", "", "start this load first: NAME[:TARGET][,option=value...]", true},
    {"knob", ParamType::text, "", "", "", "set this knob for the time of the test: NAME=VALUE", true},
    {"others", ParamType::choice, "unexpected", "", "unexpected|expected",
     "tasks of others that run meanwhile: named as a disturbance, or part of what is measured"},
    {"end-with-parent", ParamType::flag, "", "", "", "stop when the parent ends, however it dies"},
    {"parent", ParamType::count, "", "", "",
     "its process, for --end-with-parent: one that ended before is noticed"},
};

Result<ExitCode> run(const Test& test, const std::vector<std::string>& argv) {
  keep_heap_together();
  auto params = Params::parse({test.params, common_params()}, argv);
  if (!params) return params.error();
  if (params->flag("end-with-parent"))
    if (const Status status = end_with_parent(SIGTERM, *params); !status) return status.error();
  Cell cell(test, std::move(*params));
  return test.run(cell);
}

}  // namespace

Checked check_test(const Test& test, const std::vector<std::string>& argv) {
  auto params = Params::parse({test.params, common_params()}, argv);
  if (!params) return {params.error(), {}};
  Cell cell(test, std::move(*params), {}, CellUse::check);
  const auto result = test.run(cell);
  return {result ? std::nullopt : std::optional(result.error()), std::move(cell.warnings())};
}

std::span<const ParamSpec> common_params() {
  return common;
}

ExitCode run_test(const Test& test, const std::vector<std::string>& argv) {
  const auto result = run(test, argv);
  if (result) return *result;
  return complain(result.error());
}

}  // namespace howlate
