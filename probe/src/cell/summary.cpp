// The summary for people: one line a fact, and the histogram with bars whose length is the logarithm of the
// count.
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "cell/document.hpp"
#include "core/text.hpp"
#include "core/text_histogram.hpp"

namespace howlate {

namespace {

[[gnu::format(printf, 2, 3)]] void print(std::string& out, const char* format, ...) {
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

void write_quantile(std::string& out, const Histogram& latency, const char* name, double q) {
  const auto value = latency.quantile(q);
  print(out, "  %-10s %s\n", name, value ? duration(*value).c_str() : "too few samples to say");
}

void write_latency(std::string& out, const CellPlan& plan, const CellOutcome& outcome,
                   const Statistics& all) {
  const Histogram& latency = all.latency;
  if (latency.count() == 0) {
    print(out, "\n  no sample outside the warm-up\n");
    return;
  }
  print(out, "\nWake-up latency of %llu activations\n", static_cast<unsigned long long>(latency.count()));
  print(out, "  minimum    %s\n  mean       %s\n", duration(latency.min()).c_str(),
        duration(std::llround(latency.mean())).c_str());
  write_quantile(out, latency, "median", 0.5);
  write_quantile(out, latency, "p99", 0.99);
  write_quantile(out, latency, "p99.9", 0.999);
  print(out, "  maximum    %s   largest seen in %s, at %.3f s\n", duration(latency.max()).c_str(),
        duration(outcome.duration_ns).c_str(), static_cast<double>(all.max_at_ns) / 1e9);
  print(out, "  stddev     %s\n", duration(std::llround(latency.stddev())).c_str());
  print(out, "  later than a period: %lld\n", static_cast<long long>(all.period_exceeded));
  if (plan.deadline_ns != 0)
    print(out, "  %s beyond the deadline of %s: %lld\n", plan.has_work ? "responses" : "latencies",
          duration(plan.deadline_ns).c_str(), static_cast<long long>(all.deadline_misses));
}

void write_thread(std::string& out, const LaneAccount& account) {
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  print(out,
        "  %-8s %lld releases = %lld recorded + %lld overruns + %lld dropped; late starts %lld, early %lld, "
        "warm-up %lld\n",
        account.cpu < 0 ? "unpinned" : ("CPU " + std::to_string(account.cpu)).c_str(),
        number(account.releases), number(account.recorded), number(account.overruns), number(account.dropped),
        number(account.late_starts), number(account.early), number(account.warm_up));
  print(out,
        "           faults %lld minor, %lld major; switched out %lld times against its will; migrations %s\n",
        number(account.counters.minor_faults), number(account.counters.major_faults),
        number(account.counters.involuntary_switches),
        account.counters.migrations < 0 ? "unknown" : std::to_string(account.counters.migrations).c_str());
}

void write_load(std::string& out, const LoadOutcome& load) {
  print(out, "  load %s: %.1f %% of CPU %s", load.spec.c_str(), 100 * load.achieved_cpu, load.cpus.c_str());
  if (load.target_cpu) print(out, " (wanted %.1f %%)", 100 * *load.target_cpu);
  print(out, ", %lld %s\n", static_cast<long long>(load.units), load.unit.c_str());
}

}  // namespace

std::string summary_text(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics) {
  std::string out(cell.test().name);
  for (const auto& [name, value] : plan.labels) print(out, "  %s %s", name.c_str(), value.c_str());
  print(out, "\n%s, ended by: %s%s\n", duration(outcome.duration_ns).c_str(),
        std::string(stop_reason_name(outcome.reason)).c_str(),
        outcome.valid() ? "" : "; NOT VALID, see the warnings");
  write_latency(out, plan, outcome, statistics);
  print(out, "\nAccount\n");
  for (const LaneAccount& account : outcome.accounts) write_thread(out, account);
  for (const LoadOutcome& load : outcome.loads) write_load(out, load);
  if (statistics.latency.count() != 0) out += "\n" + text_histogram(statistics.latency);
  for (const std::string& warning : cell.warnings()) out += "warning: " + warning + "\n";
  return out;
}

}  // namespace howlate
