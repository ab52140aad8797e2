// The summary for people: one line a fact, and the histogram with bars whose length is the logarithm of the
// count.
#include <cmath>

#include "cell/document.hpp"
#include "cell/text_parts.hpp"
#include "core/text_histogram.hpp"

namespace howlate {

namespace {

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

}  // namespace

std::string summary_text(Cell& cell, const CellPlan& plan, const CellOutcome& outcome,
                         const Statistics& statistics) {
  std::string out = summary_head(cell, plan.labels, outcome);
  write_latency(out, plan, outcome, statistics);
  print(out, "\nAccount\n");
  for (const LaneAccount& account : outcome.accounts) write_account_text(out, account);
  for (const LoadOutcome& load : outcome.loads) write_load_text(out, load);
  if (statistics.latency.count() != 0) out += "\n" + text_histogram(statistics.latency);
  for (const std::string& warning : cell.warnings()) out += "warning: " + warning + "\n";
  return out;
}

}  // namespace howlate
