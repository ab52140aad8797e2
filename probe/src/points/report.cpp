#include "points/report.hpp"

#include <algorithm>

#include "cell/document_parts.hpp"
#include "cell/text_parts.hpp"
#include "core/text_histogram.hpp"

namespace howlate {

std::vector<PointsColumn> points_statistics(std::span<const ColumnSpec> columns,
                                            const std::vector<PointsTable>& tables) {
  std::vector<PointsColumn> all;
  for (std::size_t i = 1; i + 1 < columns.size(); ++i) {
    if (!columns[i].name.ends_with("_ns") || columns[i].name == "time_ns") continue;
    all.push_back({std::string(columns[i].name), {}});
    for (const PointsTable& table : tables)
      for (const std::int64_t value : table.columns[i]) all.back().values.add(value);
  }
  return all;
}

std::string outcomes_json(const PointsOutcomes& outcomes) {
  JsonWriter json;
  json.begin_object();
  if (outcomes.passes) json.member("passes", *outcomes.passes);
  if (outcomes.failures) json.member("failures", *outcomes.failures);
  for (const auto& [name, value] : outcomes.figures)
    std::visit([&, &key = name](auto number) { json.member(key, number); }, value);
  return json.end_object().take();
}

void PointsFindings::write_statistics(JsonWriter& json) const {
  for (const auto& [name, values] : columns) {
    json.key(name).begin_object();
    write_values(json, values);
    json.end_object();
  }
}

namespace {

void write_columns(std::string& out, const std::vector<PointsColumn>& columns) {
  const auto whole = [](std::int64_t ns) { return static_cast<long long>(ns); };
  print(out, "\n  %-14s %10s %12s %14s %12s %14s\n", "nanoseconds", "points", "minimum", "mean", "maximum",
        "stddev");
  for (const auto& [name, values] : columns) {
    if (values.count() == 0) {
      print(out, "  %-14s no point\n", name.c_str());
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

void PointsFindings::write_statistics(std::string& text) const {
  write_columns(text, columns);
  write_outcomes(text, outcomes);
}

void PointsFindings::write_histograms(std::string& text) const {
  for (const auto& [name, values] : columns)
    if (values.count() != 0) text += "\n" + name + "\n" + text_histogram(values);
}

}  // namespace howlate
