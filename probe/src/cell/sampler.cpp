#include "cell/sampler.hpp"

#include <algorithm>
#include <string>

#include "sys/clock.hpp"

namespace howlate {

namespace {
constexpr std::int64_t sample_every_ns = 1'000'000'000;
constexpr std::int64_t shortest_ns = 200'000'000;  // below it a share in ticks of 10 ms says little

constexpr ColumnSpec cpu_columns[] = {
    {"time_ns", ColumnType::i64, "end of the second, as an offset from t0"},
    {"cpu", ColumnType::i32, "the CPU"},
    {"busy_permille", ColumnType::i32, "user, system and interrupt time since the row before"},
    {"steal_permille", ColumnType::i32, "time that the hypervisor gave to others"},
    {"frequency_khz", ColumnType::i32, "as cpufreq says; 0 = unknown or not read here"},
    {"smi_count", ColumnType::i64, "system management interrupts so far; -1 = unknown or not read here"},
};
constexpr ColumnSpec load_columns[] = {
    {"time_ns", ColumnType::i64, "time of the load's report, as an offset from t0"},
    {"load", ColumnType::i32, "index into the trailer's list"},
    {"cpu_ns", ColumnType::i64, "CPU time of all its processes so far"},
    {"units", ColumnType::i64, "work done so far, in the load's unit"},
};

std::int64_t permille(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : std::clamp<std::int64_t>(part * 1000 / whole, 0, 1000);
}

std::size_t rows_max(const SamplerSpec& spec) {
  return spec.seconds_max * spec.rows_each_second;
}

bool contains(const std::vector<int>& cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}
}  // namespace

std::span<const ColumnSpec> cpus_columns() {
  return cpu_columns;
}
std::span<const ColumnSpec> loads_columns() {
  return load_columns;
}

std::size_t SystemSampler::memory_bytes(const SamplerSpec& spec) {
  return TableWriter::memory_bytes(cpu_columns, rows_max(spec)) +
         TableWriter::memory_bytes(load_columns, rows_max(spec)) +
         Counters::memory_bytes(spec.seconds_max, spec.counted_cpus.size(), spec.beside);
}

SystemSampler::SystemSampler(const SamplerSpec& spec, LoadSet& loads)
    : spec_(spec),
      loads_(loads),
      smi_(spec.root),
      cpus_(spec.first_table, cpu_columns, rows_max(spec)),
      loads_table_(static_cast<std::uint16_t>(spec.first_table + 1), load_columns, rows_max(spec)),
      counters_({spec.root, spec.counted_cpus, spec.beside, static_cast<std::uint16_t>(spec.first_table + 2),
                 spec.seconds_max}) {}

void SystemSampler::begin(std::int64_t t0_ns, std::int64_t now_ns) {
  t0_ns_ = t0_ns;
  last_ns_ = now_ns;
  const std::string stat = spec_.root.read_text("/proc/stat").value_or("");
  last_ = parse_cpu_times(stat);
  counters_.begin(stat);
}

void SystemSampler::tick(std::int64_t now_ns) {
  if (now_ns - last_ns_ >= sample_every_ns) sample(now_ns);
}

void SystemSampler::end(std::int64_t now_ns) {
  if (now_ns - last_ns_ >= shortest_ns) {
    sample(now_ns);
  } else {
    counters_.sample(now_ns - t0_ns_, spec_.root.read_text("/proc/stat").value_or(""));
  }
}

void SystemSampler::sample(std::int64_t now_ns) {
  const std::string stat = spec_.root.read_text("/proc/stat").value_or("");
  std::vector<CpuTimes> now = parse_cpu_times(stat);
  counters_.sample(now_ns - t0_ns_, stat);
  for (const CpuTimes& times : now) {
    const auto before =
        std::find_if(last_.begin(), last_.end(), [&](const CpuTimes& t) { return t.cpu == times.cpu; });
    if (before != last_.end()) add_cpu(now_ns, *before, times);
  }
  for (std::size_t load = 0; load < loads_.size(); ++load) {
    const LoadReport& report = loads_.latest(load);
    if (loads_table_.full()) {
      ++missed_;
      continue;
    }
    loads_table_.add({report.time_ns - t0_ns_, static_cast<std::int64_t>(load), report.cpu_ns, report.units});
  }
  last_ = std::move(now);
  last_ns_ = now_ns;
}

void SystemSampler::add_cpu(std::int64_t now_ns, const CpuTimes& before, const CpuTimes& now) {
  const std::int64_t busy = now.busy - before.busy;
  const std::int64_t steal = now.steal - before.steal;
  const std::int64_t whole = busy + steal + (now.idle - before.idle);
  const bool measuring = contains(spec_.measuring_cpus, now.cpu);
  if (measuring) steal_ns_ += steal * tick_ns();
  if (cpus_.full()) {
    ++missed_;
    return;
  }
  cpus_.add({now_ns - t0_ns_, now.cpu, permille(busy, whole), permille(steal, whole),
             measuring ? 0 : cpu_frequency_khz(spec_.root, now.cpu), measuring ? -1 : smi_.read(now.cpu)});
}

void SystemSampler::flush(Sink& sink) {
  cpus_.flush(sink);
  loads_table_.flush(sink);
  counters_.flush(sink);
}

}  // namespace howlate
