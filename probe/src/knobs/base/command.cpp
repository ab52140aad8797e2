#include "knobs/base/command.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/help.hpp"
#include "core/json.hpp"
#include "core/params.hpp"
#include "knobs/base/set.hpp"
#include "sys/clock.hpp"
#include "sys/journal.hpp"
#include "sys/process.hpp"
#include "sys/standard.hpp"
#include "sys/undo.hpp"

namespace howlate {
namespace {

void tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
}

bool remove_journal(const JournalFile& journal) {
  if (::unlink(journal.path.c_str()) == 0 || errno == ENOENT) return true;
  std::fprintf(stderr, "howlate-probe: the journal %s cannot be removed: %s.\n", journal.path.c_str(),
               errno_text(errno).c_str());
  return false;
}

// It may name changes that are still in force.
bool keep_journal(const JournalFile& journal) {
  static_cast<void>(complain(
      broken("the journal " + journal.path + " is not understood (" + journal.problem + ") and is kept",
             "Restore with the version of the probe that wrote it, or settle by hand what it names and "
             "remove it")));
  return false;
}

// One journal of a dead process of this boot. True if nothing of it is left to do.
bool restore_journal(JournalFile& journal) {
  const Undone undone = undo_settings(Root(journal.owner.root), journal.settings);
  for (const std::string& line : undone.done) tell("restored " + line);
  for (const std::string& line : undone.left) tell("left " + line);
  for (const std::string& line : undone.failed) std::fprintf(stderr, "howlate-probe: %s.\n", line.c_str());
  if (!undone.failed.empty()) return false;
  if (!journal.problem.empty()) return keep_journal(journal);
  if (!remove_journal(journal)) return false;
  if (undone.done.empty() && undone.left.empty()) {
    tell(owner_text(journal.owner) + " left nothing changed");
  }
  return true;
}

constexpr ParamSpec hold_options[] = {
    {"knob", ParamType::text, "", "", "", "NAME=VALUE, as in `howlate-probe list`", true},
    {"cpus", ParamType::cpus, "", "", "",
     "the measuring CPUs, for knobs that keep other work away from them"},
    {"duration", ParamType::duration, "", "ns", "",
     "restore after this time (default: at SIGTERM, SIGINT or SIGHUP)"},
    {"end-with-parent", ParamType::flag, "", "", "", "restore when the parent ends"},
};

ExitCode hold_help() {
  HelpPage page;
  page.usage = "howlate-probe hold --knob NAME=VALUE ... [--cpus LIST] [--duration T]";
  page.summary = "Set knobs, hold them while another program runs, and restore them.";
  page.notes = "One line of JSON is printed when they are in force, and one when they are restored.";
  page.sections = {{"Options", hold_options}};
  page.example = "howlate-probe hold --knob cpu_dma_latency=0 --duration 1min";
  std::fputs(help_text(page).c_str(), stdout);
  return ExitCode::done;
}

Status print_state(std::string_view state, const KnobSet& set) {
  JsonWriter json;
  json.begin_object()
      .member("state", state)
      .member("pid", ::getpid())
      .member_raw("knobs", set.to_json())
      .end_object();
  tell(json.take());
  if (std::fflush(stdout) != 0) return broken("standard output cannot be written: " + errno_text(errno));
  return {};
}

// Until a signal asks for the end, or the instant has come (INT64_MAX: never).
void wait_for_end(const Fd& signals, std::int64_t end_ns) {
  for (;;) {
    const std::int64_t left_ns = end_ns - monotonic_now_ns();
    if (left_ns <= 0) return;
    struct pollfd waits = {signals.get(), POLLIN, 0};
    const std::int64_t left_ms = left_ns / 1'000'000 + 1;
    const int timeout = left_ms > 1'000'000 ? 1'000'000 : static_cast<int>(left_ms);
    if (::poll(&waits, 1, timeout) > 0 && take_signal(signals) != 0) return;
  }
}

}  // namespace

ExitCode restore_command(const Root& machine) {
  const auto folder = state_folder(machine);
  if (!folder) return complain(folder.error());
  const auto lock = StateLock::take(*folder);
  if (!lock) return complain(lock.error());
  bool all = true;
  auto journals = read_journals(*folder);
  for (JournalFile& journal : journals) {
    if (journal.owner.boot_id.empty() && !journal.problem.empty()) {
      all = keep_journal(journal) && all;
    } else if (journal.owner.boot_id != this_boot()) {
      tell("the journal of " + owner_text(journal.owner) +
           " is of another boot (or was never begun): nothing of it is restored, and it is removed");
      all = remove_journal(journal) && all;
    } else if (journal.held) {
      tell(owner_text(journal.owner) + " still runs and restores its knobs by itself");
    } else {
      all = restore_journal(journal) && all;
    }
  }
  if (journals.empty()) tell("nothing to restore");
  return all ? ExitCode::done : ExitCode::broken;
}

ExitCode hold_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) return hold_help();
  const auto params = Params::parse({hold_options}, argv);
  if (!params) return complain(params.error());
  if (params->texts("knob").empty())
    return complain(usage_error("hold needs a knob", "give --knob NAME=VALUE"));
  KnobContext context;
  if (params->is_set("cpus")) {
    auto cpus = parse_cpu_list(params->text("cpus"));
    if (!cpus) return complain(cpus.error());
    context.measuring_cpus = std::move(*cpus);
  }
  const auto signals = take_end_signals();
  if (!signals) return complain(signals.error());
  if (params->flag("end-with-parent")) {
    const Status status = end_with_parent(SIGTERM);
    if (!status) return complain(status.error());
  }
  auto set = KnobSet::apply(params->texts("knob"), context);
  if (!set) return complain(set.error());
  const Status said = print_state("in force", *set);
  if (said)
    wait_for_end(*signals,
                 params->is_set("duration") ? monotonic_now_ns() + params->integer("duration") : INT64_MAX);
  const Status restored = set->restore();
  if (!restored) return complain(restored.error());
  const Status last = print_state("restored", *set);
  return last ? ExitCode::done : complain(last.error());
}

}  // namespace howlate
