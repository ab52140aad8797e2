#include "loads/command.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "core/json.hpp"
#include "core/text.hpp"
#include "loads/base/request.hpp"
#include "loads/base/supervisor.hpp"
#include "sys/process.hpp"
#include "sys/standard.hpp"

namespace howlate {
namespace {

std::string summary_json(const LoadRequest& request, const LoadSummary& summary) {
  JsonWriter json;
  json.begin_object()
      .member("name", request.load->name)
      .member("target", request.target)
      .member("unit", request.load->unit);
  json.member("cpu_ns", summary.totals.cpu_ns).member("units", summary.totals.units);
  json.member("duration_ns", summary.duration_ns).key("target_cpu");
  if (request.target_cpu) {
    json.value(*request.target_cpu);
  } else {
    json.null();
  }
  json.member("achieved_cpu", summary.achieved_cpu).member("policy", policy_text(request.policy));
  json.member("nice", request.policy.nice).member("cpus", cpu_list_text(request.cpus));
  json.member_raw("results", summary.results).key("warnings").begin_array();
  for (const std::string& warning : summary.warnings) json.value(warning);
  json.end_array().end_object();
  return json.take();
}

void print_summary(const LoadRequest& request, const LoadSummary& summary) {
  const std::string name =
      std::string(request.load->name) + (request.target.empty() ? "" : ":" + request.target);
  const std::string unit(request.load->unit);
  if (::isatty(STDOUT_FILENO) != 0) std::printf("\r\x1b[K");
  std::printf("%s for %s on CPU %s: %.1f %% of the CPU time", name.c_str(),
              format_duration_ns(summary.duration_ns).c_str(), cpu_list_text(request.cpus).c_str(),
              100.0 * summary.achieved_cpu);
  if (request.target_cpu) std::printf(" (target %.1f %%)", 100.0 * *request.target_cpu);
  if (!unit.empty()) std::printf(", %lld %s", static_cast<long long>(summary.totals.units), unit.c_str());
  std::printf("\n");
  if (summary.results != "{}") std::printf("%s\n", summary.results.c_str());
}

}  // namespace

ExitCode run_load_command(const std::vector<std::string>& argv) {
  const Result<LoadRequest> request = read_load_request(argv);
  if (!request) return complain(request.error());
  const Params& params = request->params;
  if (params.flag("end-with-parent"))
    if (const Status status = end_with_parent(SIGKILL, params); !status) return complain(status.error());
  for (const char* option : {"report-fd", "slots-fd"})
    if (params.is_set(option) && ::fcntl(static_cast<int>(params.integer(option)), F_GETFD) < 0)
      return complain(
          usage_error("--" + std::string(option) + ' ' + params.text(option) + " is not an open descriptor"));

  // It was executed as /proc/self/exe, and would be called `exe` in every list of tasks; what it forks has the name too.
  ::pthread_setname_np(::pthread_self(), std::string(request->load->name.substr(0, 15)).c_str());
  Supervisor supervisor(*request);
  const Result<LoadSummary> summary = supervisor.run();
  if (!summary) return complain(summary.error());
  if (params.flag("json")) {
    std::printf("%s\n", summary_json(*request, *summary).c_str());
  } else if (!params.flag("quiet")) {
    print_summary(*request, *summary);
  }
  std::fflush(stdout);
  return ExitCode::done;
}

}  // namespace howlate
