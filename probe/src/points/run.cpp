#include <algorithm>
#include <functional>
#include <numeric>

#include "cell/frame.hpp"
#include "core/text.hpp"
#include "points/report.hpp"
#include "points/threads.hpp"
#include "points/watchdog.hpp"

namespace howlate {

namespace {

constexpr std::size_t batch_rows = 1U << 16U;

std::vector<int> cpus_of(const PointsPlan& plan, const std::function<bool(const PointsThreadSpec&)>& counts) {
  std::vector<int> cpus;
  for (const PointsThreadSpec& thread : plan.threads)
    if (counts(thread)) cpus.insert(cpus.end(), thread.cpus.begin(), thread.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::vector<int> measuring_cpus(const PointsPlan& plan) {
  return cpus_of(plan, [](const PointsThreadSpec&) { return true; });
}

// Data points: each recording thread keeps its rows in memory until the end.
class PointsRun : public CellFrame {
 public:
  PointsRun(Cell& cell, PointsPlan& plan) : CellFrame(cell, measuring_cpus(plan), plan.labels), plan_(plan) {
    if (!plan.loads_beside.empty()) around_.loads_beside(plan.loads_beside);
  }

 private:
  Status check() override;
  Status set_up() override { return plan_.set_up ? plan_.set_up() : Status(); }
  Status prepare() override;
  void undo() override;
  void begin() override;
  void join() override;
  void account() override;
  [[nodiscard]] std::vector<int> counted_cpus() const override {
    return cpus_of(plan_, [](const PointsThreadSpec& thread) { return thread.records; });
  }
  [[nodiscard]] Status right() const override;

  [[nodiscard]] std::int64_t t0_ns() const override { return t0_ns_; }
  [[nodiscard]] bool ended() const override { return threads_->group().ended(); }
  [[nodiscard]] bool stopping() const override { return threads_->group().stopping(); }
  void stop() override;
  void kick() override { threads_->group().kick(); }
  [[nodiscard]] SoFar so_far() const override { return {.made = threads_->points()}; }

  [[nodiscard]] std::vector<int> table_cpus() const override;
  [[nodiscard]] std::span<const ColumnSpec> columns() const override { return plan_.columns; }
  void write_head(JsonWriter& json) const override {
    json.member("switched_by_design", plan_.switched_by_design);
  }
  void write_threads(JsonWriter& json) const override;
  void write_statistics(JsonWriter& json) const override { found_.write_statistics(json); }
  void write_statistics(std::string& text) const override { found_.write_statistics(text); }
  void write_histograms(std::string& text) const override { found_.write_histograms(text); }

  [[nodiscard]] StopReason reason() const;
  LaneAccount write_rows(const PointsThreadRun& run, const PointsTable& points, std::size_t table);

  PointsPlan& plan_;
  std::optional<PointsThreads> threads_;
  std::optional<Watchdog> watchdog_;
  std::int64_t t0_ns_ = 0;
  bool stopped_by_signal_ = false;
  PointsFindings found_;
};

Status PointsRun::check() {
  const auto recording = static_cast<std::size_t>(
      std::count_if(plan_.threads.begin(), plan_.threads.end(), [](const auto& one) { return one.records; }));
  const double bytes =
      static_cast<double>(PointsThreads::memory_bytes(plan_)) * static_cast<double>(recording);
  return check_available(std::to_string(plan_.points) + " points need", bytes, memory_available(cell_.root()),
                         "Ask for fewer with --points");
}

Status PointsRun::prepare() {
  threads_.emplace(cell_.root(), *wake_fd_);
  if (Status made = threads_->make(plan_); !made) return made;
  threads_->when_measuring([this] { around_.loads().mark(); }, [this] { around_.loads().close(); });
  if (Status started = threads_->start(); !started) return started;
  std::vector<pid_t> recording;
  for (const auto& run : threads_->runs())
    if (run->spec.records) recording.push_back(run->thread.in_force().tid);
  sampler_->counters().of_threads(std::move(recording));
  watchdog_.emplace(*threads_);
  return watchdog_->start(plan_, cell_.root());
}

void PointsRun::undo() {
  watchdog_.reset();
  threads_.reset();
  if (plan_.take_down) plan_.take_down();
}

// The header is written before t0, so that whatever happens to the probe leaves a stream that can be read.
void PointsRun::begin() {
  t0_ns_ = monotonic_now_ns() + plan_.first_ns + plan_.warm_up_ns;
  write_opening(t0_ns_);
  sleep_until_ns(t0_ns_ - plan_.warm_up_ns);
  sampler_->begin(t0_ns_, monotonic_now_ns());
  threads_->open(plan_, t0_ns_);
}

void PointsRun::stop() {
  stopped_by_signal_ = true;
  threads_->group().stop();
}

void PointsRun::join() {
  threads_->group().join();
  watchdog_->end();
  sampler_->end(monotonic_now_ns());
  for (const auto& run : threads_->runs())
    if (run->spec.records) outcome_.duration_ns = std::max(outcome_.duration_ns, run->ended_ns - t0_ns_);
  if (plan_.take_down) plan_.take_down();
}

Status PointsRun::right() const {
  for (const auto& run : threads_->runs())
    if (!run->status) return run->status;
  if (!watchdog_->barked()) return {};
  return broken("no data point came within " + format_duration_ns(plan_.stall_ns) +
                ", so the watchdog ended the test");
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
LaneAccount PointsRun::write_rows(const PointsThreadRun& run, const PointsTable& points, std::size_t table) {
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
  account.cpu = run.cpu();
  account.recorded = writer.kept();
  account.dropped = writer.lost();
  account.releases = outcome_.reason == StopReason::activations ? plan_.points : points.rows + points.missed;
  account.overruns = account.releases - points.rows;
  account.warm_up = run.seen.warm_up();
  account.counters = run.counters;
  if (account.cpu >= 0 && account.counters.migrations < 0) account.counters.migrations = 0;  // it is pinned
  return account;
}

void PointsRun::account() {
  std::vector<PointsTable> tables;
  for (const auto& run : threads_->runs()) {
    if (!run->spec.records) continue;
    PointsTable table{run->seen.rows(), run->seen.missed_points(), t0_ns_, {}};
    const auto rows = static_cast<std::size_t>(table.rows);
    for (std::size_t i = 0; i < plan_.columns.size(); ++i)
      table.columns.push_back(run->seen.column(i).first(rows));
    if (!run->seen.numbered()) std::iota(table.columns[0].begin(), table.columns[0].end(), 0);
    tables.push_back(std::move(table));
  }
  if (plan_.conclude) found_.outcomes = plan_.conclude(tables);
  found_.columns = points_statistics(plan_.columns, tables);
  outcome_.outcomes = outcomes_json(found_.outcomes);
  outcome_.reason = reason();
  JsonWriter helpers;
  helpers.begin_array();
  for (const auto& run : threads_->runs()) {
    const std::size_t table = outcome_.accounts.size();
    if (run->spec.records) {
      outcome_.accounts.push_back(write_rows(*run, tables[table], table));
    } else {
      helpers.begin_object().member("name", run->spec.name).member("cpu", run->cpu());
      write_counters(helpers, run->counters);
      helpers.end_object();
    }
  }
  outcome_.helpers = helpers.end_array().take();
}

std::vector<int> PointsRun::table_cpus() const {
  std::vector<int> cpus;
  for (const PointsThreadSpec& spec : plan_.threads)
    if (spec.records) cpus.push_back(spec.cpus.size() == 1 ? spec.cpus.front() : -1);
  return cpus;
}

void PointsRun::write_threads(JsonWriter& json) const {
  for (const auto& run : threads_->runs()) {
    json.begin_object().member("cpu", run->cpu()).member("pinned", run->cpu() >= 0);
    write_thread(json, run->thread.in_force());
    json.member("name", run->spec.name).member("records", run->spec.records).end_object();
  }
}

}  // namespace

Result<ExitCode> measure_points(Cell& cell, PointsPlan plan) {
  if (plan.columns.empty()) plan.columns = cell.test().columns;
  std::vector<std::string> loads = cell.params().texts("load");
  if (loads.empty()) loads = {"none"};
  plan.labels.emplace_back("load", join(loads, "+"));
  return PointsRun(cell, plan).run();
}

}  // namespace howlate
