#include "sys/cpus.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "core/params.hpp"
#include "sys/file.hpp"

namespace howlate {

std::vector<int> online_cpus(const Root& root) {
  const auto text = read_text(root.at("/sys/devices/system/cpu/online"));
  if (!text) return {};
  const auto cpus = parse_cpu_list(*text);
  return cpus ? *cpus : std::vector<int>{};
}

namespace {
// "cpu1 10 0 5 ...": nothing for the line of all CPUs and for other lines.
bool parse_line(std::string_view line, CpuTimes& times) {
  if (!line.starts_with("cpu") || line.size() < 4 || line[3] < '0' || line[3] > '9') return false;
  const char* const end = line.data() + line.size();
  const char* at = std::from_chars(line.data() + 3, end, times.cpu).ptr;
  std::int64_t fields[8] = {};  // user nice system idle iowait irq softirq steal
  for (std::int64_t& field : fields) {
    while (at != end && *at == ' ') ++at;
    at = std::from_chars(at, end, field).ptr;
  }
  times.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
  times.tasks = fields[0] + fields[1] + fields[2];
  times.idle = fields[3] + fields[4];
  times.steal = fields[7];
  return true;
}
}  // namespace

std::vector<CpuTimes> parse_cpu_times(std::string_view proc_stat) {
  std::vector<CpuTimes> all;
  while (proc_stat.starts_with("cpu")) {
    const std::size_t newline = proc_stat.find('\n');
    CpuTimes times;
    if (parse_line(proc_stat.substr(0, newline), times)) all.push_back(times);
    if (newline == std::string_view::npos) break;
    proc_stat.remove_prefix(newline + 1);
  }
  return all;
}

std::vector<CpuTimes> read_cpu_times(const Root& root) {
  return parse_cpu_times(read_text(root.at("/proc/stat")).value_or(""));
}

std::int64_t tick_ns() {
  return 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
}

std::int64_t cpu_frequency_khz(const Root& root, int cpu) {
  return read_integer(
             root.at("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq"))
      .value_or(0);
}

SmiCounter::SmiCounter(const Root& root) : root_(root) {
  const auto info = read_text(root.at("/proc/cpuinfo"));
  counts_ = info && (info->find("GenuineIntel") != std::string::npos ||
                     info->find(" hypervisor") != std::string::npos);
}

std::int64_t SmiCounter::read(int cpu) const {
  if (!counts_) return -1;
  const Fd fd(::open(root_.at("/dev/cpu/" + std::to_string(cpu) + "/msr").c_str(), O_RDONLY | O_CLOEXEC));
  std::uint64_t count = 0;
  if (!fd.valid() || ::pread(fd.get(), &count, sizeof count, 0x34) != static_cast<ssize_t>(sizeof count))
    return -1;
  return static_cast<std::int64_t>(count & 0xffffffffU);
}

}  // namespace howlate
