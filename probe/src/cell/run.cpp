#include "cell/run.hpp"

#include <signal.h>

#include "cell/cell.hpp"
#include "cell/loads.hpp"
#include "sys/cpus.hpp"
#include "sys/elsewhere.hpp"
#include "sys/memory.hpp"
#include "sys/process.hpp"
#include "sys/standard.hpp"

namespace howlate {

namespace {

constexpr ParamSpec common[] = {
    {"stream", ParamType::text, "", "", "", "write the raw stream to this new file (docs/stream.md)"},
    {"json", ParamType::flag, "", "", "", "print the summary as JSON on standard output"},
    {"quiet", ParamType::flag, "", "", "",
     "print no live line and no summary; warnings go to standard error"},
    {"progress", ParamType::flag, "", "", "",
     "print five lines a second on standard output: progress ACTIVATIONS ELAPSED_NS LATENCY_NS_MAX "
     "CPU:ACTIVATIONS:LATENCY_NS_MAX[:BIN+MORE,...]..."},
    {"record", ParamType::choice, "stream", "", "stream|memory",
     "write samples during the test, or keep all in memory until the end"},
    {"load", ParamType::text, "", "", "", "start this load first: NAME[:TARGET][,option=value...]", true},
    {"knob", ParamType::text, "", "", "", "set this knob for the time of the test: NAME=VALUE", true},
    {"others", ParamType::choice, "unexpected", "", "unexpected|expected",
     "whether tasks of others that run during the test are a disturbance, or part of what is measured"},
    {"end-with-parent", ParamType::flag, "", "", "", "stop when the parent ends, however it dies"},
    {"parent", ParamType::count, "", "", "",
     "for --end-with-parent: the parent's process id, so that a parent that has already ended is noticed"},
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

// The CPUs of the option `cpus`, as the test chose them, or as they were given.
std::vector<int> measuring_cpus(const Params& params) {
  const auto cpus = parse_cpu_list(params.text("cpus"));
  return cpus ? *cpus : read_affinity();
}

// Only the CPUs of another machine are known: the plan can be refused for them or for the words of its loads, and for nothing else.
Status check_elsewhere(const Params& params) {
  const std::vector<int> measuring = measuring_cpus(params);
  if (const Status there = check_cpus_there(measuring, read_affinity()); !there) return there;
  return LoadSet::read(params.texts("load"), measuring);
}

}  // namespace

Planned plan_test(const Test& test, const std::vector<std::string>& argv) {
  Planned planned;
  auto params = Params::parse({test.params, common_params()}, argv);
  if (!params) return params.error();
  planned.options = params->given_json();
  Cell cell(test, std::move(*params), {}, CellUse::check);
  const auto result = test.run(cell);
  Status accepted = result ? Status() : Status(result.error());
  if (!accepted && accepted.error().code != ExitCode::usage && !accepted.error().everywhere &&
      elsewhere_cpus() != nullptr)
    accepted = check_elsewhere(cell.params());
  const std::vector<std::string>& loads = cell.params().texts("load");
  const std::vector<int> measuring = measuring_cpus(cell.params());
  planned.warnings = cell.warnings();
  planned.length = length_of(test, cell.params());
  if (!test.loads_alone) planned.alone_least_ns = LoadSet::alone_least_ns(loads, measuring);
  if (accepted) planned.few_actions = few_actions(loads, measuring, planned.length.seconds);
  if (!accepted) planned.refusal = accepted.error();
  return planned;
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
