// unmeasured: the loads alone, with nothing measured beside them: what they do where no measurement takes anything from them.
//
// From: the instant at which all loads have said that they run. To: --duration later, or the end of the round that --rounds asks for.
// It starts, watches and ends them exactly as every other test does - the same knobs, the same CPUs, the same once-a-second look at the
// machine - so that a load's own results (hackbench's run time, its messages) with and without a measurement differ by the measurement
// alone. A row is a round that a load made whole, as the load timed it. Its own cost: a thread that is awake once a second, off the
// CPUs of --cpus where there are others. Source: what response costs in throughput (sh7780-2008). docs/tests/unmeasured.md tells more.
#include <algorithm>

#include "cell/choose.hpp"
#include "cell/document_parts.hpp"
#include "cell/live.hpp"
#include "cell/sampler.hpp"
#include "cell/surroundings.hpp"
#include "core/json_read.hpp"
#include "core/text.hpp"
#include "points/report.hpp"
#include "sys/cpus.hpp"
#include "sys/facts.hpp"
#include "sys/process.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"duration", ParamType::duration, "10s", "ns", "", "how long the loads run", false, true},
    {"rounds", ParamType::count, "", "1", "",
     "end once every load that has rounds made so many, if that comes first", false, true},
    {"cpus", ParamType::cpus, "", "", "",
     "the CPU that a measurement would have: what cpus=same and cpus=other of a load mean"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the row"},
    {"load", ColumnType::i64, "which load: its place in the trailer's list"},
    {"round_ns", ColumnType::i64, "how long a round of it took, as it says itself (the first 635 are kept)"},
    {"flags", ColumnType::u8, "0"},
};

constexpr std::size_t sampled_seconds = 3600;
constexpr std::int64_t look_again_ns = 1'000'000'000;

// The rounds that the loads kept, and how many they made in all.
struct Rounds {
  std::vector<std::vector<std::int64_t>> columns = std::vector<std::vector<std::int64_t>>(4);
  std::int64_t made = 0;

  void add(std::int64_t load, std::int64_t round_ns) {
    const auto index = static_cast<std::int64_t>(columns[0].size());
    const std::int64_t row[] = {index, load, round_ns, 0};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(row[i]);
  }
};

Rounds rounds_of(const std::vector<LoadOutcome>& loads) {
  Rounds rounds;
  for (std::size_t load = 0; load < loads.size(); ++load) {
    const auto results = JsonValue::parse(loads[load].results);
    const JsonValue* const made = results ? results->find("runs") : nullptr;
    const JsonValue* const kept = results ? results->find("run_ns") : nullptr;
    if (made == nullptr || kept == nullptr) continue;
    rounds.made += made->integer().value_or(0);
    for (const JsonValue& one : kept->items())
      rounds.add(static_cast<std::int64_t>(load), one.integer().value_or(0));
  }
  return rounds;
}

class Unmeasured {
 public:
  Unmeasured(Cell& cell, std::vector<int> cpus)
      : cell_(cell), cpus_(std::move(cpus)), around_(cell, read_affinity(), cpus_) {}
  Result<ExitCode> run();
  Status check() { return around_.check(); }

 private:
  [[nodiscard]] std::string header(std::int64_t t0_ns) const;
  [[nodiscard]] bool rounds_made();
  Status watch();
  void write_rows(const Rounds& rounds);
  void print(const Rounds& rounds);

  Cell& cell_;
  std::vector<int> cpus_;
  Surroundings around_;
  Sink sink_;
  CellOutcome outcome_;
};

std::string Unmeasured::header(std::int64_t t0_ns) const {
  JsonWriter json;
  begin_header(json, cell_);
  json.key("in_force").begin_object().key("threads").begin_array().end_array().member("memory_lock", "none");
  json.key("recorder").begin_object().member("record", "memory").end_object();
  json.member_raw("loads", around_.loads_json()).member_raw("knobs", around_.knobs_json()).end_object();
  json.member_raw("facts", brief_facts_json(cell_.root().at("/"))).member("t0_ns", t0_ns);
  json.key("tables").begin_array();
  write_samples_table(json, 0, -1, columns);
  write_machine_tables(json, 1);
  return json.end_array().end_object().take();
}

// A load says how many rounds it has begun; one without rounds says none, and is not waited for.
bool Unmeasured::rounds_made() {
  if (!cell_.params().is_set("rounds")) return false;
  const std::int64_t wanted = cell_.params().integer("rounds");
  bool any = false;
  for (std::size_t i = 0; i < around_.loads().size(); ++i) {
    const std::int64_t begun = around_.loads().latest(i).restarts;
    if (begun != 0 && begun <= wanted) return false;
    any = any || begun != 0;
  }
  return any;
}

// Until the end, whichever comes first.
Status Unmeasured::watch() {
  auto bell = Bell::make();
  if (!bell) return bell.error();
  const std::size_t rows =
      sampled_seconds * std::max(online_cpus(cell_.root()).size(), around_.loads().size());
  SystemSampler sampler({cell_.root(), cpus_, 1, rows}, around_.loads());
  Live live(cell_.params());
  around_.read_before(outcome_);
  around_.loads().mark();
  const std::int64_t t0_ns = monotonic_now_ns();
  const std::int64_t end_ns = t0_ns + cell_.params().integer("duration");
  std::vector<std::byte> opening;
  StreamEncoder::magic(opening);
  StreamEncoder::header(opening, header(t0_ns));
  static_cast<void>(sink_.put(opening));
  sampler.begin(t0_ns, t0_ns);
  live.begin(t0_ns);
  outcome_.reason = StopReason::duration;
  for (std::int64_t now_ns = t0_ns; now_ns < end_ns; now_ns = monotonic_now_ns()) {
    live.show(now_ns, 0, -1);
    sampler.tick(now_ns);
    if (rounds_made()) {
      outcome_.reason = StopReason::activations;
      break;
    }
    static_cast<void>(bell->wait(around_.signals(), std::min(end_ns, now_ns + look_again_ns)));
    if (take_signal(around_.signals()) == 0) continue;
    outcome_.reason = StopReason::stopped;
    break;
  }
  around_.loads().close();
  const std::int64_t now_ns = monotonic_now_ns();
  sampler.end(now_ns);
  outcome_.duration_ns = now_ns - t0_ns;
  around_.read_after(outcome_);
  outcome_.steal_ns = sampler.steal_ns();
  around_.end(outcome_);
  live.clear();
  sampler.flush(sink_);
  return {};
}

void Unmeasured::write_rows(const Rounds& rounds) {
  const auto rows = static_cast<std::int64_t>(rounds.columns[0].size());
  LaneAccount account;
  account.releases = account.recorded = rows;
  account.counters.migrations = -1;
  if (rows != 0) {
    BatchWriter writer(0, columns, rounds.columns[0].size());
    const std::vector<std::span<const std::int64_t>> spans(rounds.columns.begin(), rounds.columns.end());
    writer.put(sink_, spans, {rows, rows, 0, 0});
    account.recorded = writer.kept();
    account.dropped = writer.lost();
  }
  outcome_.accounts.push_back(account);
}

void Unmeasured::print(const Rounds& rounds) {
  PointsPlan plan;
  plan.labels = {{"load", join(cell_.params().texts("load"), "+")}};
  std::vector<PointsColumn> statistics = {{"round_ns", {}}};
  for (const std::int64_t round_ns : rounds.columns[2]) statistics.front().values.add(round_ns);
  PointsOutcomes outcomes;
  outcomes.figures = {{"rounds", rounds.made}};
  outcome_.outcomes = outcomes_json(outcomes);
  const PointsReport report{cell_, plan, outcome_, statistics, outcomes};
  const auto json = [&] { return points_summary_json(report); };
  print_report(cell_, json, [&] { return points_summary_text(report); });
}

Result<ExitCode> Unmeasured::run() {
  auto sink = open_sink(cell_.params());
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  if (const Status begun = around_.begin(false); !begun) return around_.give_up(begun.error());
  if (const Status watched = watch(); !watched) return around_.give_up(watched.error());
  const Rounds rounds = rounds_of(outcome_.loads);
  write_rows(rounds);
  print(rounds);
  if (const Status written = write_trailer(sink_, outcome_, cell_.warnings()); !written)
    return written.error();
  if (const Status& restored = around_.restored(); !restored) return restored.error();
  return ExitCode::done;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const std::vector<std::string> loads = in.texts("load");
  if (loads.empty() || loads.front() == "none")
    return usage_error("it runs loads, and none is given", "Give --load, such as --load hackbench:10");
  if (in.integer("duration") <= 0) return usage_error("--duration must be more than 0");
  if (in.is_set("rounds") && in.integer("rounds") < 1) return usage_error("--rounds must be more than 0");
  in.put("record", "memory");
  auto cpus = choose_cpus(cell, in);
  if (!cpus) return cpus.error();
  in.put("cpus", cpu_list_text(*cpus));
  Unmeasured unmeasured(cell, std::move(*cpus));
  if (!cell.only_checks()) return unmeasured.run();
  if (const Status right = unmeasured.check(); !right) return right.error();
  return ExitCode::done;
}

}  // namespace

extern const Test test_unmeasured;
const Test test_unmeasured = {
    .name = "unmeasured",
    .summary = "the loads alone, without a measurement: what they do by themselves",
    .params = params,
    .columns = columns,
    .needs = "",
    .run = run,
    .example = "howlate-probe unmeasured --duration 1min --load hackbench:10",
};

}  // namespace howlate
