#include "cell/statistics.hpp"

#include <cmath>

#include "cell/document_parts.hpp"
#include "cell/text_parts.hpp"

namespace howlate {

Statistics join_tallies(const Recorder& recorder, std::size_t lanes) {
  Statistics all;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Tally& tally = recorder.tally(lane);
    if (tally.latency().max() > all.latency.max()) all.max_at_ns = tally.max_at_ns();
    all.latency.merge(tally.latency());
    all.period_exceeded += tally.period_exceeded();
    all.deadline_misses += tally.deadline_misses();
  }
  return all;
}

void write_latency(JsonWriter& json, const CellPlan& plan, const Statistics& all) {
  json.key("latency_ns").begin_object();
  write_values(json, all.latency);
  json.member("period_exceeded", all.period_exceeded);
  json.member("max_at_s", static_cast<double>(all.max_at_ns) / 1e9);
  if (plan.deadline_ns != 0)
    json.member("deadline_ns", plan.deadline_ns).member("deadline_misses", all.deadline_misses);
  json.end_object();
}

namespace {

void write_quantile(std::string& out, const Histogram& latency, const char* name, double q) {
  const auto value = latency.quantile(q);
  print(out, "  %-10s %s\n", name, value ? duration(*value).c_str() : "too few samples to say");
}

}  // namespace

void write_latency(std::string& out, const CellPlan& plan, const Statistics& all, std::int64_t duration_ns) {
  const Histogram& latency = all.latency;
  if (latency.count() == 0) {
    print(out, "\n  no sample\n");
    return;
  }
  print(out, "\nWake-up latency of %llu activations\n", static_cast<unsigned long long>(latency.count()));
  print(out, "  minimum    %s\n  mean       %s\n", duration(latency.min()).c_str(),
        duration(std::llround(latency.mean())).c_str());
  write_quantile(out, latency, "median", 0.5);
  write_quantile(out, latency, "p99", 0.99);
  write_quantile(out, latency, "p99.9", 0.999);
  print(out, "  maximum    %s   largest seen in %s, at %.3f s\n", duration(latency.max()).c_str(),
        duration(duration_ns).c_str(), static_cast<double>(all.max_at_ns) / 1e9);
  print(out, "  stddev     %s\n", duration(std::llround(latency.stddev())).c_str());
  print(out, "  later than a period: %lld\n", static_cast<long long>(all.period_exceeded));
  if (plan.deadline_ns != 0)
    print(out, "  %s beyond the deadline of %s: %lld\n", plan.has_work ? "responses" : "latencies",
          duration(plan.deadline_ns).c_str(), static_cast<long long>(all.deadline_misses));
}

}  // namespace howlate
