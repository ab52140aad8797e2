#include <algorithm>
#include <numeric>

#include "cell/document_parts.hpp"
#include "cell/live.hpp"
#include "cell/sampler.hpp"
#include "cell/surroundings.hpp"
#include "core/text.hpp"
#include "points/report.hpp"
#include "points/watchdog.hpp"
#include "sys/process.hpp"

namespace howlate {

namespace {

constexpr std::int64_t look_again_ns = 100'000'000;
constexpr std::int64_t first_ns = 1'000'000;  // from the header's making to t0
constexpr std::size_t batch_rows = 1U << 16U;
constexpr std::size_t sampled_seconds =
    3600;  // of the tables `cpus` and `loads`, which are kept in memory too

std::vector<int> measuring_cpus(const PointsPlan& plan) {
  std::vector<int> cpus;
  for (const PointsThreadSpec& thread : plan.threads)
    cpus.insert(cpus.end(), thread.cpus.begin(), thread.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace

// One run, in the order of its steps (points.hpp). What a step made is undone in reverse when it goes.
class PointsRun {
 public:
  PointsRun(Cell& cell, PointsPlan& plan)
      : cell_(cell),
        plan_(plan),
        measuring_(measuring_cpus(plan)),
        around_(cell, read_affinity(), measuring_) {}

  Result<ExitCode> run();
  // What can refuse the run before anything is started or changed.
  Status check();

 private:
  Status prepare();
  void measure();
  void watch();
  void conclude();
  [[nodiscard]] StopReason reason() const;
  LaneAccount write_rows(const PointsThreadRun& run, std::size_t table);
  void account();

  Cell& cell_;
  PointsPlan& plan_;
  std::vector<int> measuring_;
  Surroundings around_;
  Sink sink_;
  std::optional<Bell> bell_;
  std::optional<SystemSampler> sampler_;
  std::optional<PointsThreads> threads_;
  std::optional<Watchdog> watchdog_;
  std::optional<MemoryLock> memory_;
  std::optional<Live> live_;
  std::int64_t t0_ns_ = 0;
  bool stopped_by_signal_ = false;
  CellOutcome outcome_;
  std::vector<PointsTable> tables_;
  PointsOutcomes outcomes_;
  std::vector<PointsColumn> columns_;
};

Result<ExitCode> measure_points(Cell& cell, PointsPlan plan) {
  if (plan.columns.empty()) plan.columns = cell.test().columns;
  std::vector<std::string> loads = cell.params().texts("load");
  if (loads.empty()) loads = {"none"};
  plan.labels.emplace_back("load", join(loads, "+"));
  PointsRun run(cell, plan);
  if (!cell.only_checks()) return run.run();
  if (const Status right = run.check(); !right) return right.error();
  return ExitCode::done;
}

Result<ExitCode> PointsRun::run() {
  Status ready = check();
  if (ready) ready = around_.begin();
  const bool begun = ready.ok();
  if (ready && plan_.set_up) ready = plan_.set_up();
  if (ready) ready = prepare();
  if (!ready) {
    watchdog_.reset();
    threads_.reset();
    if (begun && plan_.take_down) plan_.take_down();
    return around_.give_up(ready.error());
  }
  measure();
  conclude();
  const Status written = write_trailer(sink_, outcome_, cell_.warnings());
  const PointsReport report{cell_, plan_, outcome_, columns_, outcomes_};
  const auto json = [&] { return points_summary_json(report); };
  print_report(cell_, json, [&] { return points_summary_text(report); });
  for (const auto& run : threads_->runs())
    if (!run->status) return run->status.error();
  if (watchdog_->barked())
    return broken("no data point came within " + format_duration_ns(plan_.stall_ns) +
                  ", so the watchdog ended the test");
  if (!written) return written.error();
  if (const Status& restored = around_.restored(); !restored) return restored.error();
  return ExitCode::done;
}

Status PointsRun::check() {
  const auto recording = static_cast<std::size_t>(
      std::count_if(plan_.threads.begin(), plan_.threads.end(), [](const auto& one) { return one.records; }));
  const double bytes =
      static_cast<double>(PointsThreads::memory_bytes(plan_)) * static_cast<double>(recording);
  const std::int64_t available = memory_available(cell_.root());
  if (available != 0 && bytes > 0.8 * static_cast<double>(available))
    return not_possible(std::to_string(plan_.points) + " points need " +
                            std::to_string(static_cast<std::int64_t>(bytes / 1048576)) + " MiB, and " +
                            std::to_string(available >> 20) + " MiB are available",
                        "Ask for fewer with --points");
  if (cell_.only_checks()) return around_.check();
  auto sink = open_sink(cell_.params());
  if (!sink) return sink.error();
  sink_ = std::move(*sink);
  return {};
}

Status PointsRun::prepare() {
  auto bell = Bell::make();
  if (!bell) return bell.error();
  bell_.emplace(std::move(*bell));
  threads_.emplace(cell_.root(), *bell_);
  if (Status made = threads_->make(plan_); !made) return made;
  threads_->when_measuring([this] { around_.loads().mark(); }, [this] { around_.loads().close(); });
  std::size_t tables = 0;
  for (const auto& run : threads_->runs()) tables += run->spec.records ? 1 : 0;
  const std::size_t rows =
      sampled_seconds * std::max({online_cpus(cell_.root()).size(), around_.loads().size(), std::size_t{1}});
  sampler_.emplace(SamplerSpec{cell_.root(), measuring_, static_cast<std::uint16_t>(tables), rows},
                   around_.loads());
  if (Status started = threads_->start(); !started) return started;
  watchdog_.emplace(*threads_);
  if (Status started = watchdog_->start(plan_, cell_.root()); !started) return started;
  memory_.emplace(MemoryLock::take(cell_.root()));
  if (memory_->scope() == "none") cell_.warn(memory_->why_not());
  touch_mapped();
  return {};
}

void PointsRun::measure() {
  around_.read_before(outcome_);
  live_.emplace(cell_.params());
  const PointsInForce in_force{std::string(memory_->scope()), around_.loads_json(), around_.knobs_json()};
  // The header is written before t0, so that whatever happens to the probe leaves a stream that can be read.
  t0_ns_ = monotonic_now_ns() + first_ns;
  std::vector<std::byte> opening;
  StreamEncoder::magic(opening);
  StreamEncoder::header(opening, points_header_json(cell_, plan_, *threads_, in_force, t0_ns_));
  static_cast<void>(sink_.put(opening));
  sleep_until_ns(t0_ns_);
  sampler_->begin(t0_ns_, monotonic_now_ns());
  live_->begin(t0_ns_);
  threads_->open(plan_, t0_ns_);
  watch();
  threads_->join();
  watchdog_->end();
  const std::int64_t now_ns = monotonic_now_ns();
  sampler_->end(now_ns);
  for (const auto& run : threads_->runs())
    if (run->spec.records) outcome_.duration_ns = std::max(outcome_.duration_ns, run->ended_ns - t0_ns_);
  live_->clear();
}

void PointsRun::watch() {
  while (!threads_->ended()) {
    const std::int64_t now_ns = monotonic_now_ns();
    std::int64_t until_ns = std::min(now_ns + look_again_ns, live_->due_ns());
    live_->show(now_ns, threads_->points(), -1);
    sampler_->tick(now_ns);
    if (threads_->stopping()) {
      threads_->kick();
      until_ns = now_ns + kick_again_ns;
    }
    static_cast<void>(bell_->wait(around_.signals(), until_ns));
    if (take_signal(around_.signals()) == 0) continue;
    stopped_by_signal_ = true;
    threads_->stop();
  }
}

void PointsRun::conclude() {
  if (plan_.take_down) plan_.take_down();
  around_.read_after(outcome_);
  outcome_.steal_ns = sampler_->steal_ns();
  if (sampler_->lost() != 0)
    cell_.warn(std::to_string(sampler_->lost()) + " rows about the machine could not be kept");
  around_.end(outcome_);
  for (const auto& run : threads_->runs()) {
    if (!run->spec.records) continue;
    PointsTable table{run->seen.rows(), run->seen.missed_points(), t0_ns_, {}};
    const auto rows = static_cast<std::size_t>(table.rows);
    for (std::size_t i = 0; i < plan_.columns.size(); ++i)
      table.columns.push_back(run->seen.column(i).first(rows));
    if (!run->seen.numbered()) std::iota(table.columns[0].begin(), table.columns[0].end(), 0);
    tables_.push_back(std::move(table));
  }
  if (plan_.conclude) outcomes_ = plan_.conclude(tables_);
  mark_warm_up(tables_, plan_.warm_up);
  outcome_.outcomes = outcomes_json(outcomes_);
  columns_ = points_statistics(plan_.columns, tables_);
  outcome_.reason = reason();
  account();
}

StopReason PointsRun::reason() const {
  StopReason found = StopReason::activations;
  for (const auto& run : threads_->runs()) {
    if (!run->status || watchdog_->barked()) return StopReason::failed;
    if (run->seen.out_of_time()) found = StopReason::duration;
  }
  return stopped_by_signal_ ? StopReason::stopped : found;
}

// The rows of one thread, and its account: a point that was wanted and not had is an overrun, one that could not be written dropped.
LaneAccount PointsRun::write_rows(const PointsThreadRun& run, std::size_t table) {
  const PointsTable& points = tables_[table];
  BatchWriter writer(static_cast<std::uint16_t>(table), plan_.columns, batch_rows);
  std::vector<std::span<const std::int64_t>> part(plan_.columns.size());
  const auto rows = static_cast<std::size_t>(points.rows);
  for (std::size_t from = 0; from < rows; from += batch_rows) {
    const std::size_t many = std::min(batch_rows, rows - from);
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = points.columns[i].subspan(from, many);
    const std::int64_t upto = points.columns.front()[from + many - 1] + 1;
    const auto recorded = static_cast<std::int64_t>(from + many);
    writer.put(sink_, part, {upto, recorded, upto - recorded, 0});
  }
  LaneAccount account;
  account.table = static_cast<int>(table);
  account.cpu = run.spec.cpus.size() == 1 ? run.spec.cpus.front() : -1;
  account.recorded = writer.kept();
  account.dropped = writer.lost();
  account.releases = outcome_.reason == StopReason::activations ? plan_.points : points.rows + points.missed;
  account.overruns = account.releases - points.rows;
  account.warm_up = std::min(plan_.warm_up, points.rows);
  account.counters = run.counters;
  if (account.cpu >= 0 && account.counters.migrations < 0) account.counters.migrations = 0;  // it is pinned
  return account;
}

void PointsRun::account() {
  JsonWriter helpers;
  helpers.begin_array();
  for (const auto& run : threads_->runs()) {
    if (run->spec.records) {
      outcome_.accounts.push_back(write_rows(*run, outcome_.accounts.size()));
    } else {
      write_helper(helpers, *run);
    }
  }
  outcome_.helpers = helpers.end_array().take();
  sampler_->flush(sink_);
}

}  // namespace howlate
