#include "job/command.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/help.hpp"
#include "core/params.hpp"
#include "core/text.hpp"
#include "job/job.hpp"
#include "job/processes.hpp"
#include "job/runner.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

constexpr ParamSpec options[] = {
    {"out", ParamType::text, "", "", "", "the folder of the results: a new one, or an empty one"},
    {"limit", ParamType::duration, "", "ns", "",
     "after this time, end the running line and do not run the rest"},
    {"grace", ParamType::duration, "30s", "ns", "", "kill a line this long after it was asked to end"},
};

ExitCode complain(const Error& error) {
  std::fprintf(stderr, "howlate-probe: %s\n", sentence(error).c_str());
  return error.code;
}

struct Request {
  Job job;
  JobOptions options;
};

Result<std::string> make_out(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return usage_error("cannot make the folder " + folder + ": " + errno_text(errno),
                       "Name one with --out that can be made");
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error || !empty || !std::filesystem::is_directory(folder, error))
    return usage_error(folder + " is not an empty folder", "Name a new one with --out");
  char whole[PATH_MAX];  // the lines have other working folders
  if (::realpath(folder.c_str(), whole) == nullptr) return broken("cannot find " + folder);
  return std::string(whole);
}

Result<Request> read_request(const std::vector<std::string>& argv) {
  const Result<Params> params = Params::parse({options}, argv, 1);
  if (!params) return params.error();
  if (params->positionals().empty() || !params->is_set("out"))
    return usage_error("a job needs a file and a folder for its results",
                       "Write howlate-probe job FILE --out DIR");
  const std::string& file = params->positionals().front();
  const auto text = read_text(file);
  if (!text) return usage_error("the job " + file + " cannot be read: " + errno_text(errno));
  Result<Job> job = read_job(*text);
  if (!job) return job.error();
  if (params->is_set("limit") && params->integer("limit") <= 0)
    return usage_error("--limit must be more than 0");
  Result<std::string> out = make_out(params->text("out"));
  if (!out) return out.error();
  Request request;
  request.job = std::move(*job);
  request.options.out = std::move(*out);
  request.options.grace_ns = params->integer("grace");
  if (params->is_set("limit")) request.options.limit_ns = params->integer("limit");
  request.options.ended = [](std::size_t number, const std::string& status) {
    std::printf("line %zu: %s\n", number, status.c_str());
    std::fflush(stdout);
  };
  return request;
}

ExitCode run_lines(const Request& request) {
  const Result<JobOutcome> outcome = run_job(request.job, request.options);
  if (!outcome) return complain(outcome.error());
  if (outcome->stopped || outcome->limit_passed) {
    std::fprintf(stderr, "howlate-probe: the job was ended before its end: %s\n",
                 outcome->stopped ? "it was asked to stop." : "its --limit has passed.");
    return ExitCode::inconclusive;
  }
  const auto& statuses = outcome->statuses;
  const bool all = std::all_of(statuses.begin(), statuses.end(), [](const auto& one) { return one == "0"; });
  return all ? ExitCode::done : ExitCode::failed;
}

// Two processes: however one of them dies, the other ends all that came of the job.
ExitCode watch_over(pid_t runner, const Fd& signals) {
  int how = 0;
  while (::waitpid(runner, &how, WNOHANG) != runner) {
    struct pollfd fds[] = {{signals.get(), POLLIN, 0}};
    ::poll(fds, 1, -1);
    while (const int signal = take_signal(signals))
      if (signal != SIGCHLD) ::kill(runner, SIGTERM);
    for (int orphan = 1; orphan > 0;) {
      siginfo_t info{};
      ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
      orphan = info.si_pid == runner ? 0 : info.si_pid;
      if (orphan > 0) ::waitpid(orphan, nullptr, WNOHANG);
    }
  }
  end_descendants();
  if (WIFEXITED(how)) return static_cast<ExitCode>(WEXITSTATUS(how));
  return complain(
      broken("the process that ran the job was ended by signal " + std::to_string(WTERMSIG(how))));
}

ExitCode run_watched(const Request& request) {
  const Result<Fd> signals = open_job_signals();
  if (!signals) return complain(signals.error());
  adopt_orphans();
  const pid_t parent = ::getpid();
  const pid_t runner = ::fork();
  if (runner < 0) return complain(broken("cannot start a process: " + errno_text(errno)));
  if (runner > 0) return watch_over(runner, *signals);
  ExitCode code = ExitCode::broken;
  if (end_with_parent(SIGTERM, parent)) code = run_lines(request);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

std::string help() {
  return help_text(
      {"howlate-probe job <FILE> --out DIR [options]",
       "Run the lines of a job one after the other, each in a folder of its own below DIR.",
       "A line is a JSON array: [\"howlate-probe\", ...], [\"module\", \"NAME\", \"k=v\"...], "
       "[\"unload\", \"NAME\"] or [\"/path/to/program\", ...].\n"
       "Each leaves stdout, stderr and status. Exit code 0: every status is 0; 1: some status is "
       "not; 5: ended early.",
       {{"Options", options}},
       "howlate-probe job cells.job --out results --limit 10min"});
}

}  // namespace

ExitCode job_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    std::fputs(help().c_str(), stdout);
    return ExitCode::done;
  }
  const Result<Request> request = read_request(argv);
  return request ? run_watched(*request) : complain(request.error());
}

}  // namespace howlate
