#include "cell/account.hpp"

#include <algorithm>

namespace howlate {

LaneAccount make_account(int table, const MeasuringThread& lane, const ThreadCounters& counters,
                         const Tally& tally, const RecorderCounts& counted) {
  const LoopContext& loop = lane.loop;
  LaneAccount account;
  account.table = table;
  account.cpu = lane.cpu;
  account.releases = counted.releases;
  account.recorded = loop.activations - loop.dropped - counted.lost;
  account.overruns = loop.overruns;
  account.dropped = loop.dropped + counted.lost;
  account.late_starts = loop.late_starts;
  account.early = loop.early;
  account.warm_up = loop.warm_up;
  account.latency_ns_max = loop.release_at_max < 0 ? 0 : loop.latency_ns_max;
  account.release_at_max = loop.release_at_max;
  account.deadline_misses = tally.deadline_misses();
  account.counters = counters;
  if (lane.cpu >= 0 && account.counters.migrations < 0) account.counters.migrations = 0;  // it is pinned
  account.phase_before_ns = loop.phase_before_ns;
  account.phase_after_ns = loop.phase_after_ns;
  account.core = loop.core;
  return account;
}

std::vector<std::string> check_account(const LaneAccount& account, const Tally& tally,
                                       const TableWriter& table) {
  std::vector<std::string> wrong;
  const std::string who = "thread " + std::to_string(account.table) + ": ";
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (account.releases != account.recorded + account.overruns + account.dropped)
    wrong.push_back(who + text(account.releases) + " releases are not " + text(account.recorded) +
                    " recorded and " + text(account.overruns) + " overruns and " + text(account.dropped) +
                    " dropped");
  const WarmUp& warm = account.warm_up;
  if (warm.releases != warm.activations + warm.overruns)
    wrong.push_back(who + text(warm.releases) + " releases before t0 are not " + text(warm.activations) +
                    " activations and " + text(warm.overruns) + " overruns");
  if (account.recorded != table.kept())
    wrong.push_back(who + text(account.recorded) + " activations left a sample, but the recorder kept " +
                    text(table.kept()));
  if (tally.unbalanced() != 0)
    wrong.push_back(who + text(tally.unbalanced()) + " samples do not fit the account up to them");
  const Histogram& seen = tally.latency();
  if (account.dropped == 0 && seen.count() != 0 && seen.max() != account.latency_ns_max)
    wrong.push_back(who + "its own maximum is " + text(account.latency_ns_max) + " ns, the recorder's " +
                    text(seen.max()) + " ns");
  return wrong;
}

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::activations:
      return "activations";
    case StopReason::duration:
      return "duration";
    case StopReason::stopped:
      return "stopped";
    case StopReason::threshold:
      return "threshold";
    case StopReason::failed:
      return "failed";
  }
  return "failed";
}

StopReason join_reasons(const std::vector<StopReason>& reasons) {
  StopReason joined = StopReason::activations;
  for (const StopReason reason : reasons)
    joined = std::max(joined, reason);  // the enumeration is in this order
  return joined;
}

}  // namespace howlate
