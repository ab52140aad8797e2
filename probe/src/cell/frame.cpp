#include "cell/frame.hpp"

#include <algorithm>

#include "cell/text_parts.hpp"
#include "facts/base/command.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"

namespace howlate {

CellFrame::CellFrame(Cell& cell, std::vector<int> measuring, Labels labels)
    : cell_(cell),
      allowed_(read_affinity()),
      measuring_(std::move(measuring)),
      labels_(std::move(labels)),
      around_(cell, allowed_, measuring_) {}

Result<ExitCode> CellFrame::run() {
  Status ready = check();
  if (ready && cell_.only_checks()) ready = around_.check();
  if (cell_.only_checks()) return ready ? Result<ExitCode>(ExitCode::done) : ready.error();
  if (ready) ready = open_sink(cell_.params(), sink_);
  if (ready) ready = around_.begin(needs_reference());
  const bool begun = ready.ok();
  if (ready) ready = get_ready();
  if (!ready) {
    if (begun) undo();
    return around_.give_up(ready.error());
  }
  measure();
  conclude();
  const Status status = right();
  outcome_.took_place = status.ok() && outcome_.reason != StopReason::failed;
  const Status written = write_trailer(sink_, outcome_, cell_.warnings());
  if (outcome_.took_place || !outcome_.empty())
    print_report(
        cell_, [this] { return summary_json(); }, [this] { return summary_text(); });
  if (!written) return written.error();
  if (!status) return status.error();
  if (const Status& restored = around_.restored(); !restored) return restored.error();
  return outcome_.reason == StopReason::threshold ? ExitCode::failed : ExitCode::done;
}

Status CellFrame::get_ready() {
  if (Status made = set_up(); !made) return made;
  auto wake_fd = WakeFd::make();
  if (!wake_fd) return wake_fd.error();
  wake_fd_.emplace(std::move(*wake_fd));
  sampler_.emplace(sampler_spec(), around_.loads());
  if (Status made = prepare(); !made) return made;
  if (!locks_memory()) return {};
  memory_.emplace(MemoryLock::take(cell_.root()));
  if (memory_->scope() == "none") cell_.warn("probe.memory-not-locked", memory_->why_not());
  touch_mapped();
  return {};
}

void CellFrame::measure() {
  around_.read_before(outcome_);
  sampler_->counters().read_before();
  Live live(cell_.params());
  begin();
  watch(live);
  join();
  live.clear();
}

// While a measuring thread leaves its CPU to nobody, each thread that sleeps there interrupts it once, by its timer. This one's comes
// within the warm-up: it wakes after half of the rest of that, again and again, down to 1 ms before t0.
void CellFrame::watch(Live& live) {
  constexpr std::int64_t least_left_ns = 1'000'000;
  for (bool begun = false; !ended();) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (!begun && t0_ns() != 0) {
      begun = true;
      live.begin(t0_ns());
    }
    std::int64_t until_ns = std::min(now_ns + look_again_ns(), end_ns());
    if (const std::int64_t left_ns = t0_ns() - now_ns; left_ns > least_left_ns)
      until_ns = std::min(until_ns, now_ns + left_ns / 2);
    if (begun && now_ns >= live.due_ns()) live.show(now_ns, so_far());
    look(now_ns);
    if (stopping()) {
      kick();
      until_ns = now_ns + kick_again_ns;
    }
    if (begun) until_ns = std::min(until_ns, live.due_ns());
    static_cast<void>(wake_fd_->wait(around_.signals(), until_ns));
    if (take_signal(around_.signals()) != 0) stop();
  }
}

void CellFrame::conclude() {
  around_.read_after(outcome_);
  sampler_->counters().read_after();
  outcome_.counters = sampler_->counters().json();
  outcome_.steal_ns = sampler_->steal_ns();
  if (sampler_->lost() != 0)
    cell_.warn("probe.machine-rows-lost",
               std::to_string(sampler_->lost()) + " rows about the machine could not be kept");
  around_.end(outcome_);
  account();
  sampler_->flush(sink_);
}

SamplerSpec CellFrame::sampler_spec() const {
  SamplerSpec spec{.root = cell_.root(), .measuring_cpus = measuring_, .counted_cpus = counted_cpus()};
  spec.beside = !without(allowed_, measuring_).empty();
  spec.first_table = static_cast<std::uint16_t>(table_cpus().size());
  spec.seconds_max = static_cast<std::size_t>(std::min(seconds_kept(), 1e6));
  spec.rows_each_second =
      std::max({online_cpus(cell_.root()).size(), cell_.params().texts("load").size(), std::size_t{1}});
  return spec;
}

std::string CellFrame::header(std::int64_t t0_ns) const {
  JsonWriter json;
  begin_header(json, cell_);
  write_head(json);
  json.key("in_force").begin_object().key("threads").begin_array();
  write_threads(json);
  json.end_array().member("memory_lock", memory_ ? memory_->scope() : "none");
  json.key("recorder").begin_object();
  write_recorder(json);
  json.end_object().member_raw("loads", around_.loads_json()).member_raw("knobs", around_.knobs_json());
  json.member_raw("counters", sampler_->counters().names_json());
  write_in_force(json);
  json.end_object().member_raw("facts", brief_facts_json(cell_.root().at("/"))).member("t0_ns", t0_ns);
  json.key("tables").begin_array();
  std::size_t id = 0;
  for (const int cpu : table_cpus()) write_samples_table(json, id++, cpu, columns());
  write_machine_tables(json, id);
  write_more_tables(json, more_tables_at());
  return json.end_array().end_object().take();
}

void CellFrame::write_opening(std::int64_t t0_ns) {
  std::vector<std::byte> opening;
  StreamEncoder::magic(opening);
  StreamEncoder::header(opening, header(t0_ns));
  static_cast<void>(sink_.put(opening));
}

std::string CellFrame::summary_json() const {
  JsonWriter json;
  begin_summary(json, cell_, labels_);
  write_joined_account(json, outcome_, late_policy());
  write_end(json, outcome_);
  json.key("columns").begin_object();
  write_statistics(json);
  json.end_object();
  end_summary(json, cell_, outcome_);
  return json.take() + "\n";
}

std::string CellFrame::summary_text() const {
  std::string out = summary_head(cell_, labels_, outcome_);
  write_statistics(out);
  out += "\nAccount\n";
  for (const LaneAccount& account : outcome_.accounts) write_account_text(out, account);
  for (const LoadOutcome& load : outcome_.loads) write_load_text(out, load);
  write_histograms(out);
  for (const Warning& warning : cell_.warnings()) out += "warning: " + warning.text + "\n";
  return out;
}

}  // namespace howlate
