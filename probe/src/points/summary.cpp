// The summary for people: a table of the columns, passes and failures, the account, a histogram of each column.
#include "cell/text_parts.hpp"
#include "core/text_histogram.hpp"
#include "points/report.hpp"

namespace howlate {

namespace {

void write_columns(std::string& out, const std::vector<PointsColumn>& columns) {
  const auto whole = [](std::int64_t ns) { return static_cast<long long>(ns); };
  print(out, "\n  %-14s %10s %12s %14s %12s %14s\n", "nanoseconds", "points", "minimum", "mean", "maximum",
        "stddev");
  for (const auto& [name, values] : columns) {
    if (values.count() == 0) {
      print(out, "  %-14s no point outside the warm-up\n", name.c_str());
      continue;
    }
    print(out, "  %-14s %10llu %12lld %14.2f %12lld %14.2f\n", name.c_str(),
          static_cast<unsigned long long>(values.count()), whole(values.min()), values.mean(),
          whole(values.max()), values.stddev());
  }
}

void write_outcomes(std::string& out, const PointsOutcomes& outcomes) {
  if (outcomes.passes) print(out, "  passes %lld", static_cast<long long>(*outcomes.passes));
  if (outcomes.failures) print(out, "  failures %lld", static_cast<long long>(*outcomes.failures));
  if (outcomes.passes || outcomes.failures) out += "\n";
  for (const auto& [name, value] : outcomes.figures) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
      print(out, "  %s %lld\n", name.c_str(), static_cast<long long>(*whole));
    } else {
      print(out, "  %s %.2f\n", name.c_str(), std::get<double>(value));
    }
  }
}

}  // namespace

std::string points_summary_text(const PointsReport& report) {
  std::string out = summary_head(report.cell, report.plan.labels, report.outcome);
  write_columns(out, report.columns);
  write_outcomes(out, report.outcomes);
  out += "\nAccount\n";
  for (const LaneAccount& account : report.outcome.accounts) write_account_text(out, account);
  for (const LoadOutcome& load : report.outcome.loads) write_load_text(out, load);
  for (const auto& [name, values] : report.columns)
    if (values.count() != 0) out += "\n" + name + "\n" + text_histogram(values);
  for (const std::string& warning : report.cell.warnings()) out += "warning: " + warning + "\n";
  return out;
}

}  // namespace howlate
