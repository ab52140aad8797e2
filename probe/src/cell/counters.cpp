#include "cell/counters.hpp"

#include <algorithm>

#include "facts/base/list.hpp"
#include "sys/interrupts.hpp"
#include "sys/thread.hpp"
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

// The kernel counts in 32 bits, each interrupt of each CPU for itself, and adds that up for the machine. A count that is far below what
// it was has begun anew: the number of a device's interrupt was given up, and taken by another.
std::int64_t rise(std::int64_t before, std::int64_t now) {
  constexpr std::int64_t all = std::int64_t{1} << 32U;
  if (now >= before) return now - before;
  return now - before + all < all / 2 ? now - before + all : now;
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
  const HeatCounts heat = read_heat(spec_.root, spec_.cpus);
  heat_ = heat.core || heat.package;
  static_cast<void>(of_a_second(spec_.root.read_text("/proc/stat").value_or("")));
  for (const Name& one : names_) each_second_.insert(one.kind);
  before_ = of_the_cell();
}

void Counters::read_after() {
  for (const auto& [key, now] : of_the_cell()) over_cell_[key] = rise(before_[key], now);
}

void Counters::begin(std::string_view proc_stat) {
  last_ = of_a_second(proc_stat);
}

void Counters::sample(std::int64_t time_ns, std::string_view proc_stat) {
  Counts rises;
  for (const auto& [key, count] : of_a_second(proc_stat)) {
    std::int64_t& before = last_[key];  // of a line that was not there before: 0
    const std::int64_t more = rise(before, count);
    before = count;
    // A row of 0 tells that a thread was looked at: one that has ended is not.
    if (more != 0 || key.thread >= 0) rises[key] = more;
  }
  // A second is whole or absent: a row that is not there says that nothing was counted.
  if (table_.room() < rises.size()) {
    missed_ += static_cast<std::int64_t>(rises.size());
    return;
  }
  for (const auto& [key, more] : rises)
    table_.add({time_ns, key.cpu, key.thread, static_cast<std::int64_t>(key.counter), more});
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
    const std::size_t counter = counter_of(kind, line.label, line.name);
    for (const auto& [cpu, count] : line.counts)
      if (std::find(spec_.cpus.begin(), spec_.cpus.end(), cpu) != spec_.cpus.end())
        counts[{counter, cpu, -1}] = count;
  }
}

void Counters::add_stat(Counts& counts, std::string_view proc_stat) {
  if (const auto all = number_in_line(proc_stat, "intr")) counts[{counter_of("interrupts")}] = *all;
  if (const auto all = number_in_line(proc_stat, "ctxt")) counts[{counter_of("context_switches")}] = *all;
}

void Counters::add_threads(Counts& counts) {
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const auto usage = read_thread_usage(spec_.root, threads_[thread]);
    if (!usage) continue;
    const auto add = [&](std::string_view kind, std::int64_t count) {
      counts[{counter_of(kind), -1, static_cast<int>(thread)}] = count;
    };
    add("minor_faults", usage->minor_faults);
    add("major_faults", usage->major_faults);
    add("voluntary_switches", usage->voluntary_switches);
    add("involuntary_switches", usage->involuntary_switches);
  }
}

void Counters::add_heat(Counts& counts) {
  for (const int cpu : spec_.cpus) {
    const HeatCounts heat = read_heat(spec_.root, {cpu});
    if (heat.core) counts[{counter_of("heat", "core"), cpu, -1}] = *heat.core;
    if (heat.package) counts[{counter_of("heat", "package"), cpu, -1}] = *heat.package;
  }
}

std::string Counters::names_json() const {
  JsonWriter json;
  json.begin_object();
  write_names(json);
  return json.end_object().take();
}

std::string Counters::json() const {
  JsonWriter json;
  json.begin_object();
  write_names(json);
  json.key("over_cell").begin_array();
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

void Counters::write_names(JsonWriter& json) const {
  json.key("names").begin_array();
  for (const Name& one : names_)
    json.begin_object()
        .member("kind", one.kind)
        .member("label", one.label)
        .member("name", one.name)
        .end_object();
  json.end_array().key("each_second").begin_array();
  for (const std::string_view kind : each_second_) json.value(kind);
  json.end_array();
}

}  // namespace howlate
