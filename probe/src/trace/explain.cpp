#include "trace/explain.hpp"

#include <algorithm>

#include "cell/document_parts.hpp"
#include "cell/table.hpp"
#include "core/text.hpp"
#include "sys/clock.hpp"
#include "sys/kernel_symbols.hpp"
#include "sys/setting.hpp"
#include "sys/trace_instance.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec cases_columns[] = {
    {"thread", ColumnType::i32, "measuring thread"},
    {"release", ColumnType::i64, "index of the release"},
    {"release_ns", ColumnType::i64, "the release, as an offset from t0"},
    {"latency_ns", ColumnType::i64, "wake-up latency"},
    {"from_ns", ColumnType::i64, "from here on all events were kept, as an offset from t0"},
    {"to_ns", ColumnType::i64, "up to here"},
    {"events", ColumnType::i64, "events in this stretch, on the CPUs on which the thread may run"},
    {"state", ColumnType::u8,
     "bit 0: the beginning had been overwritten; bit 1: the kernel lost events within; bit 2: nothing was "
     "kept"},
};
constexpr ColumnSpec events_columns[] = {
    {"time_ns", ColumnType::i64, "offset from t0"},
    {"cpu", ColumnType::i32, "CPU that recorded it"},
    {"event", ColumnType::u8, "index into in_force.trace.events"},
    {"flags", ColumnType::u8, "the kernel's common_flags"},
    {"preempt", ColumnType::u8, "the kernel's common_preempt_count"},
    {"pid", ColumnType::i32, "task in whose context it came"},
    {"a", ColumnType::i64, "the event's own values (docs/stream.md)"},
    {"b", ColumnType::i64, ""},
    {"c", ColumnType::i64, ""},
    {"d", ColumnType::i64, ""},
};

constexpr std::size_t pages_each_worst = 8, pages_each_above = 4, pages_least = 64;

// Room for the cases as they mostly are, and for one that fills the whole ring.
std::size_t pages_for(const ExplainOptions& options, std::size_t threads, std::size_t cpus,
                      std::size_t page_bytes) {
  const auto ring = static_cast<std::size_t>(options.buffer_bytes) / page_bytes * cpus;
  const auto worst = static_cast<std::size_t>(options.worst) * pages_each_worst;
  const std::size_t above = options.above_ns != 0 ? CaseSpec{}.above_max * pages_each_above : 0;
  return pages_least + ring + threads * (worst + above);
}

// Events name tasks by the machine's own numbers; in a namespace of its own this process knows itself by others.
bool in_a_pid_namespace(const Root& root) {
  const auto space = root.read_link("/proc/self/ns/pid");
  return space && *space != "pid:[4026531836]";
}

// As the kernel counts: 0 to 99 real time, 100 to 139 the others, -1 deadline.
int kernel_priority(const SchedPolicy& policy) {
  switch (policy.kind) {
    case SchedKind::fifo:
    case SchedKind::rr:
      return 99 - policy.priority;
    case SchedKind::deadline:
      return -1;
    default:
      return 120 + policy.nice;
  }
}

void write_names(JsonWriter& json, std::string_view key, const std::map<std::int64_t, std::string>& names) {
  json.key(key).begin_object();
  for (const auto& [number, name] : names) json.member(std::to_string(number), name);
  json.end_object();
}

}  // namespace

Status Explain::possible(const Root& root, const ExplainOptions& options, std::size_t threads,
                         std::size_t cpus, std::int64_t memory_available) {
  if (in_a_pid_namespace(root))
    return not_possible("--explain needs the machine's own process ids, and this is a container with others",
                        "Run the probe outside it, or in the host's pid namespace");
  const auto chosen = choose_source(root, options);
  if (!chosen) return chosen.error();
  const std::size_t page = chosen->source->plan().layout.page_bytes();
  const std::size_t bytes =
      pages_for(options, threads, cpus, page) * page + cpus * static_cast<std::size_t>(options.buffer_bytes);
  return check_available("--explain needs", static_cast<double>(bytes), memory_available,
                         "Give a smaller --explain-buffer or --explain-worst");
}

Result<std::unique_ptr<Explain>> Explain::begin(const Root& root, const ExplainOptions& options,
                                                const std::vector<TracedThread>& threads) {
  remove_left_instances(root);
  auto chosen = choose_source(root, options);
  if (!chosen) return chosen.error();
  std::unique_ptr<Explain> explain(new Explain(root, options, std::move(*chosen)));
  const Status set = explain->set_up(threads);
  if (set) return explain;
  if (options.with != ExplainWith::automatic || explain->source_->name() != "bpf") return set.error();
  // What the kernel was asked before was little: it may refuse the whole.
  explain.reset();
  auto ring = choose_ring(root, options, set.error().message);
  if (!ring) return ring.error();
  explain.reset(new Explain(root, options, std::move(*ring)));
  if (const Status again = explain->set_up(threads); !again) return again.error();
  return explain;
}

Status Explain::set_up(const std::vector<TracedThread>& threads) {
  threads_ = threads;
  WatchSpec spec;
  std::vector<pid_t> ours;
  for (const TracedThread& thread : threads) {
    ours.push_back(thread.tid);
    spec.cpus.push_back(thread.cpus);
    cpus_.insert(cpus_.end(), thread.cpus.begin(), thread.cpus.end());
  }
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
  if (const Status set = source_->set_up({cpus_, ours, options_.buffer_bytes, options_.stacks,
                                          threads.front().cpus, threads.front().policy});
      !set)
    return set;
  spec.layout = source_->plan().layout;
  spec.cases = {threads.size(), static_cast<std::size_t>(options_.worst), options_.above_ns};
  const std::size_t page = spec.layout.page_bytes();
  auto memory = TouchedPages::make(pages_for(options_, threads.size(), cpus_.size(), page) * page);
  if (!memory) return memory.error();
  spec.begun_ns = monotonic_now_ns();
  watch_.emplace(spec, *source_, std::move(*memory));
  return source_->start();
}

void Explain::finish(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns) {
  stop();
  missed_ = source_->missed();
  watch_->finish();
  decoded_ = decode(*watch_, source_->plan());
  functions_ = function_names(root_, decoded_.addresses);
  const auto texts = decoded_.reasons.empty() ? std::map<std::int64_t, std::string>() : source_->ipi_texts();
  for (const std::int64_t reason : decoded_.reasons) {
    const auto text = texts.find(reason);
    ipis_.push_back(text != texts.end() ? text->second : "");
  }
  number_reasons(decoded_, source_->plan());
  for (const EventRow& row : decoded_.rows)
    if (!decoded_.tasks.contains(row.pid))
      if (const auto name = root_.read_text("/proc/" + std::to_string(row.pid) + "/comm"))
        decoded_.tasks[row.pid] = *name;
  write(sink, first_table, t0_ns);
  end();
}

void Explain::write(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns) {
  TableWriter cases(first_table, cases_columns, TableWriter::batch_rows);
  for (std::size_t i = 0; i < decoded_.cases.size(); ++i) {
    const Case& one = decoded_.cases[i];
    if (cases.full()) static_cast<void>(cases.flush(sink));
    cases.add({one.thread, one.release, one.release_ns - t0_ns, one.latency_ns, one.from_ns - t0_ns,
               one.to_ns - t0_ns, decoded_.events[i], one.state});
  }
  if (cases.rows() != 0) static_cast<void>(cases.flush(sink));
  TableWriter events(static_cast<std::uint16_t>(first_table + 1), events_columns, TableWriter::batch_rows);
  for (const EventRow& row : decoded_.rows) {
    if (events.full()) static_cast<void>(events.flush(sink));
    const auto& [a, b, c, d] = row.values;
    events.add({row.time_ns - t0_ns, row.cpu, static_cast<std::int64_t>(row.event), row.flags, row.preempt,
                row.pid, a, b, c, d});
  }
  if (events.rows() != 0) static_cast<void>(events.flush(sink));
}

void Explain::end() {
  if (source_) source_->end();
}

void Explain::write_in_force(JsonWriter& json) const {
  json.begin_object().key("events").begin_array();
  for (const TracedEvent& event : source_->plan().events) json.value(event.name);
  json.value("kernel_stack").value("lost").end_array().key("absent").begin_array();
  for (const std::string& name : source_->plan().absent) json.value(name);
  json.end_array().member("buffer_bytes", source_->buffer_bytes()).member("cpus", cpu_list_text(cpus_));
  json.member("worst", options_.worst).key("above_ns");
  if (options_.above_ns != 0) {
    json.value(options_.above_ns);
  } else {
    json.null();
  }
  json.member("detail", events_ == ExplainEvents::all ? "all" : "few").member("stacks", options_.stacks);
  json.member("with", source_->name()).member("clock", source_->clock());
  if (!no_bpf_.empty()) json.member("no_bpf", no_bpf_);
  json.end_object();
}

void Explain::write_tables(JsonWriter& json, std::size_t first_id) {
  write_table_of(json, first_id, "trace_cases", cases_columns);
  write_table_of(json, first_id + 1, "trace_events", events_columns);
}

std::string Explain::trailer_json() const {
  JsonWriter json;
  json.begin_object().key("threads").begin_array();
  for (std::size_t thread = 0; thread < threads_.size(); ++thread)
    json.begin_object()
        .member("thread", thread)
        .member("pid", threads_[thread].tid)
        .member("prio", kernel_priority(threads_[thread].policy))
        .end_object();
  json.end_array();
  write_names(json, "tasks", decoded_.tasks);
  write_names(json, "irqs", decoded_.irqs);
  write_names(json, "functions", functions_);
  json.key("ipis").begin_array();
  for (const std::string& text : ipis_) json.value(text);
  json.end_array()
      .member("cases_lost", watch_->cases().lost())
      .member("events_lost", decoded_.events_lost)
      .member("events_missed", missed_);
  json.member("pages_read", watch_->pages_read()).member("reading_ns", watch_->reading_ns());
  json.member("page_ns_max", watch_->page_ns_max());
  write_optional(json, "event_cost_ns", source_->event_cost_ns());
  return json.end_object().take();
}

std::string Explain::summary() const {
  std::string text = "  explained: " + std::to_string(decoded_.cases.size()) + " cases kept, with " +
                     std::to_string(decoded_.rows.size()) + " events";
  if (const auto cost_ns = source_->event_cost_ns())
    text += "; recording one event takes " + format_duration_ns(*cost_ns);
  return text + "\n";
}

std::optional<std::string> Explain::incomplete() const {
  const std::int64_t lost = watch_->cases().lost();
  const auto empty = std::count_if(decoded_.cases.begin(), decoded_.cases.end(),
                                   [](const Case& one) { return (one.state & case_nothing_kept) != 0; });
  if (lost != 0)
    return std::to_string(lost) +
           " latencies above --explain-above could not be kept as cases: there were too many";
  if (empty != 0)
    return "of " + std::to_string(empty) + " of " + std::to_string(decoded_.cases.size()) +
           " cases no events could be kept: give a larger --explain-buffer";
  return std::nullopt;
}

}  // namespace howlate
