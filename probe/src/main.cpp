// The command line's first word decides: a test's name, or one of the probe's own commands.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cell/check_stream.hpp"
#include "cell/list.hpp"
#include "cell/plan.hpp"
#include "cell/run.hpp"
#include "core/called.hpp"
#include "core/help.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "facts/base/command.hpp"
#include "job/command.hpp"
#include "job/guest.hpp"
#include "job/session.hpp"
#include "knobs/base/command.hpp"
#include "loads/command.hpp"
#include "sys/guardian.hpp"
#include "sys/standard.hpp"

namespace howlate {
namespace {

constexpr std::string_view commands[] = {"load",    "list",    "plan", "facts",       "job",
                                         "session", "restore", "hold", "check-stream"};

ExitCode say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

ExitCode load(const std::vector<std::string>& argv) {
  if (!asks_for_help(argv)) return run_load_command(argv);
  if (argv.front().starts_with("-")) {
    return say(
        as_called(
            "usage: howlate-probe load <NAME[:TARGET]> [options]\n\nhowlate-probe load NAME --help says "
            "what each takes.\n\n") +
        probe_help().substr(probe_help().find("Loads\n")));
  }
  const std::string name = argv.front().substr(0, argv.front().find_first_of(":,"));
  const Result<const Load*> found = find_load(name);
  return found ? say(load_help(**found)) : complain(found.error());
}

ExitCode restore(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    return say(
        as_called("usage: howlate-probe restore\n\nUndoes the knobs that a killed probe left behind in this "
                  "boot.\n\nExample\n"
                  "  howlate-probe restore\n"));
  }
  if (!argv.empty()) return complain(usage_error("restore takes no options, not " + in_quotes(argv.front())));
  return restore_command();
}

ExitCode test(const std::string& name, const std::vector<std::string>& argv) {
  const Result<const Test*> found = find_test(name);
  if (found) return asks_for_help(argv) ? say(test_help(**found)) : run_test(**found, argv);
  if (name.starts_with("-"))
    return complain(usage_error("there is no option " + in_quotes(name), "see howlate-probe --help"));
  std::vector<std::string_view> names(std::begin(commands), std::end(commands));
  for (const Test* one : tests()) names.push_back(one->name);
  return complain(unknown_name("test or command", name, names));
}

ExitCode dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::fputs(probe_help().c_str(), stderr);
    return ExitCode::usage;
  }
  const std::string& first = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (first == "--help" || first == "-h" || first == "help") return say(probe_help());
  if (first == "--version") return say("howlate-probe " + std::string(version()) + "\n");
  if (first == "load") return load(rest);
  if (first == "list") return list_command(rest);
  if (first == "plan") return plan_command(rest);
  if (first == "facts") return facts_command(rest);
  if (first == "job") return job_command(rest);
  if (first == "session") return session_command(rest);
  if (first == "restore") return restore(rest);
  if (first == "check-stream") return check_stream_command(rest);
  if (first == "hold") return hold_command(rest);
  if (first == guardian_word) return guardian_command(rest);
  return test(first, rest);
}

// The printed text is the result: if it is lost, the command has failed.
ExitCode printed(ExitCode code) {
  const Status kept = standard_output_kept();
  return kept || code != ExitCode::done ? code : complain(kept.error());
}

}  // namespace
}  // namespace howlate

int main(int argc, char** argv) {
  if (howlate::is_init(argc, argv)) howlate::be_init();
  howlate::have_standard_streams();
  if (const char* name = std::getenv("HOWLATE_PROBE_COMMAND")) howlate::call_program(name);
  howlate::Guardian::allow();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(howlate::printed(howlate::dispatch(words)));
}
