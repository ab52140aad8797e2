#include "cell/text_parts.hpp"

#include <cstdarg>
#include <cstdio>

#include "core/text.hpp"

namespace howlate {

void print(std::string& out, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  out += line;
}

std::string duration(std::int64_t ns) {
  return format_duration_ns(ns);
}

std::string summary_head(const Cell& cell, const Labels& labels, const CellOutcome& outcome) {
  std::string out(cell.test().name);
  for (const auto& [name, value] : labels) print(out, "  %s %s", name.c_str(), value.c_str());
  print(out, "\n%s, ended by: %s%s\n", duration(outcome.duration_ns).c_str(),
        std::string(stop_reason_name(outcome.reason)).c_str(),
        outcome.valid() ? "" : "; NOT VALID, see the warnings");
  return out;
}

namespace {

// Nothing for a timer of Linux's own.
void write_core_text(std::string& out, const CoreAccount& core) {
  if (core.switches < 0 && core.gravity_ns < 0) return;
  const std::string switches =
      core.switches < 0 ? "none, as there is no thread" : std::to_string(core.switches);
  print(out, "           switches to Linux's stage: %s; gravity %s", switches.c_str(),
        core.gravity_ns < 0 ? "unknown" : duration(core.gravity_ns).c_str());
  if (core.overruns >= 0)
    print(out, "; overruns by the core's count %lld", static_cast<long long>(core.overruns));
  print(out, "\n");
}

}  // namespace

void write_account_text(std::string& out, const LaneAccount& account) {
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  print(out,
        "  %-8s %lld releases = %lld recorded + %lld overruns + %lld dropped; late starts %lld, early %lld, "
        "before t0 %lld\n",
        account.cpu < 0 ? "unpinned" : ("CPU " + std::to_string(account.cpu)).c_str(),
        number(account.releases), number(account.recorded), number(account.overruns), number(account.dropped),
        number(account.late_starts), number(account.early), number(account.warm_up.activations));
  print(out,
        "           faults %lld minor, %lld major; switched out %lld times against its will; migrations %s\n",
        number(account.counters.minor_faults), number(account.counters.major_faults),
        number(account.counters.involuntary_switches),
        account.counters.migrations < 0 ? "unknown" : std::to_string(account.counters.migrations).c_str());
  write_core_text(out, account.core);
}

void write_load_text(std::string& out, const LoadOutcome& load) {
  print(out, "  load %s: ", load.spec.c_str());
  if (load.achieved_cpu) print(out, "%.1f %% of ", 100 * *load.achieved_cpu);
  print(out, "CPU %s", load.cpus.c_str());
  if (load.target_cpu) print(out, " (wanted %.1f %%)", 100 * *load.target_cpu);
  print(out, ", %lld %s", static_cast<long long>(load.units), load.unit.c_str());
  if (const auto share = load.goal.share())
    print(out, ", %s of %s", percent_text(*share).c_str(),
          load.goal.reference ? "what it does with nothing measured beside it" : "its target");
  print(out, "%s\n", load.not_loaded().empty() ? "" : "; NOT LOADED");
}

}  // namespace howlate
