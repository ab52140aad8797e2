// unmeasured: the loads alone, with nothing measured beside them: what they do where no measurement takes anything from them.
//
// From: the instant at which all loads have said that they run. To: --duration later, or the end of the round that --rounds asks for.
// It starts, watches and ends them exactly as every other test does - the same knobs, the same CPUs, the same once-a-second look at the
// machine - so that a load's own results (hackbench's run time, its messages) with and without a measurement differ by the measurement
// alone. A row is a round that a load made whole, as the load timed it. Its own cost: a thread that is awake once a second, off the
// CPUs of --cpus where there are others. Source: what response costs in throughput (sh7780-2008). docs/tests/unmeasured.md tells more.
#include "cell/choose.hpp"
#include "cell/frame.hpp"
#include "core/text.hpp"
#include "points/report.hpp"
#include "sys/clock.hpp"
#include "sys/host_word.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

constexpr double rounds_kept = 635;

constexpr ParamSpec params[] = {
    {"duration", ParamType::duration, "10s", "ns", "", "how long the loads run", false, true},
    {"rounds", ParamType::count, "", "1", "",
     "end once every load that has rounds has made this many, if that comes first", false, true},
    {"cpus", ParamType::cpus, "", "", "",
     "the CPU that a measurement would use; a load's cpus=same and cpus=other refer to it"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the row"},
    {"load", ColumnType::i64, "the load, by its place in the trailer's list"},
    {"round_ns", ColumnType::i64,
     "how long a round of the load took, as the load reports it (the first 635 are kept)"},
    {"flags", ColumnType::u8, "0"},
};

class Unmeasured : public CellFrame {
 public:
  Unmeasured(Cell& cell, std::vector<int> cpus)
      : CellFrame(cell, std::move(cpus), {{"load", howlate::join(cell.params().texts("load"), "+")}}) {}

 private:
  void begin() override;
  void look(std::int64_t now_ns) override;
  void join() override;
  void account() override;

  [[nodiscard]] std::int64_t t0_ns() const override { return t0_ns_; }
  [[nodiscard]] bool ended() const override { return ended_; }
  void stop() override { end(StopReason::stopped); }
  [[nodiscard]] std::int64_t look_again_ns() const override { return 1'000'000'000; }
  [[nodiscard]] std::int64_t end_ns() const override { return t0_ns_ + cell_.params().integer("duration"); }
  [[nodiscard]] bool needs_reference() const override { return false; }
  [[nodiscard]] bool locks_memory() const override { return false; }

  [[nodiscard]] std::vector<int> table_cpus() const override { return {-1}; }
  void write_statistics(JsonWriter& json) const override { found_.write_statistics(json); }
  void write_statistics(std::string& text) const override { found_.write_statistics(text); }
  void write_histograms(std::string& text) const override { found_.write_histograms(text); }

  void end(StopReason reason);
  [[nodiscard]] bool rounds_made();
  LaneAccount write_rows();

  std::atomic<std::int64_t>* looks_ = take_host_word();
  std::int64_t t0_ns_ = 0;
  bool ended_ = false;
  PointsFindings found_;
};

void Unmeasured::begin() {
  around_.loads().mark();
  t0_ns_ = monotonic_now_ns();
  write_opening(t0_ns_);
  sampler_->begin(t0_ns_, t0_ns_);
}

void Unmeasured::look(std::int64_t now_ns) {
  sampler_->tick(now_ns);
  if (looks_ != nullptr) looks_->fetch_add(1, std::memory_order_relaxed);
  if (now_ns >= end_ns()) end(StopReason::duration);
  if (rounds_made()) end(StopReason::activations);
}

void Unmeasured::end(StopReason reason) {
  if (!ended_) outcome_.reason = reason;
  ended_ = true;
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

void Unmeasured::join() {
  around_.loads().close();
  const std::int64_t now_ns = monotonic_now_ns();
  sampler_->end(now_ns);
  outcome_.duration_ns = now_ns - t0_ns_;
}

void Unmeasured::account() {
  outcome_.accounts.push_back(write_rows());
  std::int64_t made = 0;
  PointsColumn round_ns{"round_ns", {}};
  for (const LoadOutcome& load : outcome_.loads) {
    made += load.rounds.made;
    for (const std::int64_t ns : load.rounds.kept_ns) round_ns.values.add(ns);
  }
  found_.columns.push_back(std::move(round_ns));
  found_.outcomes.figures = {{"rounds", made}};
  outcome_.outcomes = outcomes_json(found_.outcomes);
}

LaneAccount Unmeasured::write_rows() {
  std::size_t most = 0;
  for (const LoadOutcome& load : outcome_.loads) most += load.rounds.kept_ns.size();
  TableWriter table(0, columns(), most);
  std::int64_t rows = 0;
  for (std::size_t load = 0; load < outcome_.loads.size(); ++load)
    for (const std::int64_t round_ns : outcome_.loads[load].rounds.kept_ns)
      table.add({rows++, static_cast<std::int64_t>(load), round_ns, 0});
  LaneAccount account;
  account.releases = rows;
  account.counters.migrations = -1;
  table.flush(sink_, {rows, rows, 0, 0});
  account.recorded = table.kept();
  account.dropped = table.lost();
  return account;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const std::vector<std::string> loads = in.texts("load");
  if (loads.empty() || loads.front() == "none")
    return usage_error("the test unmeasured runs loads, and none is given",
                       "Give --load, such as --load hackbench:10");
  if (in.integer("duration") <= 0) return usage_error("--duration must be more than 0");
  if (in.is_set("rounds") && in.integer("rounds") < 1) return usage_error("--rounds must be more than 0");
  in.put("record", "memory");
  auto cpus = choose_cpus(cell, in);
  if (!cpus) return cpus.error();
  in.put("cpus", cpu_list_text(*cpus));
  return Unmeasured(cell, std::move(*cpus)).run();
}

// As many rows as are kept of a load's rounds.
double turn_ns(const Params& in) {
  return in.number("duration") / rounds_kept;
}

}  // namespace

extern const Test test_unmeasured;
const Test test_unmeasured = {
    .name = "unmeasured",
    .summary = "the loads alone, without a measurement",
    .params = params,
    .columns = columns,
    .needs = "",
    .run = run,
    .example = "howlate-probe unmeasured --duration 1min --load hackbench:10",
    .loads_alone = true,
    .turn_ns = turn_ns,
};

}  // namespace howlate
