#include "cell/counters.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/json.hpp"
#include "facts/base/list.hpp"
#include "sys/interrupts.hpp"
#include "sys/tasks.hpp"
#include "sys/throttling.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec counter_columns[] = {
    {"time_ns", ColumnType::i64, "end of the second, as an offset from t0"},
    {"cpu", ColumnType::i32, "the CPU; -1 = the whole machine, or a thread"},
    {"thread", ColumnType::i32, "the measuring thread; -1 = none"},
    {"counter", ColumnType::i32, "index into the trailer's counters.names"},
    {"rise", ColumnType::i64, "by how much it rose since the row before"},
};

constexpr std::string_view interrupt = "interrupt";
constexpr std::string_view softirq = "softirq";

// A measuring CPU sees some interrupts and softirqs in a second: its own, and those of a few devices. What finds no room is counted.
constexpr std::size_t rows_of_cpu = 24;
constexpr std::size_t rows_of_thread = 4;
constexpr std::size_t rows_most = std::size_t{1} << 20U;

std::size_t rows_needed(std::size_t seconds_max, std::size_t cpus, bool beside) {
  const std::size_t each = 2 + cpus * (rows_of_thread + (beside ? rows_of_cpu : 2));
  return std::min(rows_most, std::max<std::size_t>(seconds_max, 1) * each);
}

// The number behind `name` at the beginning of a line: "ctxt 99".
std::optional<std::int64_t> number_after(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    std::int64_t number = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc{}) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

// The kernel counts interrupts and softirqs of a CPU in 32 bits, which begin anew.
std::int64_t rise(std::string_view kind, std::int64_t before, std::int64_t now) {
  const bool begun_anew = now < before && (kind == interrupt || kind == softirq);
  return now - before + (begun_anew ? std::int64_t{1} << 32U : 0);
}

}  // namespace

std::span<const ColumnSpec> counters_columns() {
  return counter_columns;
}

std::size_t Counters::memory_bytes(std::size_t seconds_max, std::size_t cpus, bool beside) {
  return TableWriter::memory_bytes(counter_columns, rows_needed(seconds_max, cpus, beside));
}

Counters::Counters(CountersSpec spec)
    : spec_(std::move(spec)),
      table_(spec_.table, counter_columns, rows_needed(spec_.seconds_max, spec_.cpus.size(), spec_.beside)) {}

void Counters::read_before() {
  before_ = of_the_cell();
}

void Counters::read_after() {
  const Counts after = of_the_cell();
  for (const auto& [key, now] : after) {
    const auto before = before_.find(key);
    over_cell_[key] = rise(names_[key.counter].kind, before == before_.end() ? 0 : before->second, now);
  }
}

void Counters::begin(std::string_view proc_stat) {
  const HeatCounts heat = read_heat(spec_.root, spec_.cpus);
  heat_ = heat.core || heat.package;
  last_ = of_a_second(proc_stat);
  for (const auto& [key, count] : last_) each_second_.insert(names_[key.counter].kind);
}

void Counters::sample(std::int64_t time_ns, std::string_view proc_stat) {
  for (const auto& [key, count] : of_a_second(proc_stat)) {
    std::int64_t& before = last_[key];  // a line that was not there before had counted nothing
    const std::int64_t more = rise(names_[key.counter].kind, before, count);
    before = count;
    // A row of 0 tells that a thread was looked at: one that has ended is not.
    if (more < 0 || (more == 0 && key.thread < 0)) continue;
    if (table_.full()) {
      ++missed_;
      continue;
    }
    table_.add({time_ns, key.cpu, key.thread, static_cast<std::int64_t>(key.counter), more});
  }
}

Counters::Counts Counters::of_the_cell() {
  Counts counts;
  add_lines(counts, interrupt, "/proc/interrupts");
  add_lines(counts, softirq, "/proc/softirqs");
  return counts;
}

Counters::Counts Counters::of_a_second(std::string_view proc_stat) {
  Counts counts = spec_.beside ? of_the_cell() : Counts();
  add_stat(counts, proc_stat);
  add_threads(counts);
  if (heat_) add_heat(counts);
  return counts;
}

std::size_t Counters::counter_of(std::string_view kind, std::string_view label, std::string_view name) {
  const auto [at, is_new] = numbers_.try_emplace({kind, std::string(label)}, names_.size());
  if (is_new) names_.push_back({kind, std::string(label), without_addresses(name)});
  return at->second;
}

void Counters::add_lines(Counts& counts, std::string_view kind, std::string_view path) {
  const auto lines = read_interrupts(spec_.root, path);
  if (!lines) return;
  for (const InterruptLine& line : *lines) {
    if (kind == interrupt && line.name.empty()) continue;  // "ERR", "MIS": of the whole machine
    for (const auto& [cpu, count] : line.counts)
      if (std::find(spec_.cpus.begin(), spec_.cpus.end(), cpu) != spec_.cpus.end())
        counts[{counter_of(kind, line.label, line.name), cpu, -1}] = count;
  }
}

void Counters::add_stat(Counts& counts, std::string_view proc_stat) {
  if (const auto all = number_after(proc_stat, "intr ")) counts[{counter_of("interrupts")}] = *all;
  if (const auto all = number_after(proc_stat, "ctxt ")) counts[{counter_of("context_switches")}] = *all;
}

void Counters::add_threads(Counts& counts) {
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const std::string folder = "/proc/self/task/" + std::to_string(threads_[thread]);
    const auto stat = spec_.root.read_text(folder + "/stat");
    const auto status = spec_.root.read_text(folder + "/status");
    const auto task = stat ? parse_task_stat(*stat) : Result<TaskStat>(stat.error());
    const auto add = [&](std::string_view kind, std::optional<std::int64_t> count) {
      if (count) counts[{counter_of(kind), -1, static_cast<int>(thread)}] = *count;
    };
    if (task) {
      add("minor_faults", task->minor_faults);
      add("major_faults", task->major_faults);
    }
    if (!status) continue;
    add("voluntary_switches", number_after(*status, "voluntary_ctxt_switches:"));
    add("involuntary_switches", number_after(*status, "nonvoluntary_ctxt_switches:"));
  }
}

void Counters::add_heat(Counts& counts) {
  for (const int cpu : spec_.cpus) {
    const HeatCounts heat = read_heat(spec_.root, {cpu});
    if (heat.core) counts[{counter_of("heat", "core"), cpu, -1}] = *heat.core;
    if (heat.package) counts[{counter_of("heat", "package"), cpu, -1}] = *heat.package;
  }
}

std::string Counters::json() const {
  JsonWriter json;
  json.begin_object().key("names").begin_array();
  for (const Name& one : names_)
    json.begin_object()
        .member("kind", one.kind)
        .member("label", one.label)
        .member("name", one.name)
        .end_object();
  json.end_array().key("each_second").begin_array();
  for (const std::string_view kind : each_second_) json.value(kind);
  json.end_array().key("over_cell").begin_array();
  for (const auto& [key, more] : over_cell_) {
    if (more <= 0) continue;
    json.begin_object()
        .member("counter", key.counter)
        .member("cpu", key.cpu)
        .member("rise", more)
        .end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace howlate
