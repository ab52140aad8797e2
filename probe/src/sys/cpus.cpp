#include "sys/cpus.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "core/params.hpp"
#include "sys/elsewhere.hpp"
#include "sys/file.hpp"
#include "sys/sched.hpp"

namespace howlate {

namespace {

std::vector<int> listed_cpus(const Root& root, const char* file) {
  const auto text = root.read_text(std::string("/sys/devices/system/cpu/") + file);
  if (!text) return {};
  const auto cpus = parse_cpu_list(*text);
  return cpus ? *cpus : std::vector<int>{};
}

}  // namespace

std::vector<int> online_cpus(const Root& root) {
  if (const std::vector<int>* stated = elsewhere_cpus()) return *stated;
  return listed_cpus(root, "online");
}

std::vector<int> present_cpus(const Root& root) {
  return listed_cpus(root, "present");
}

Status set_online(const Root& root, int cpu) {
  return root.write("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/online", "1");
}

std::vector<int> nameable_cpus(const Root& root) {
  std::vector<int> cpus = read_affinity();
  if (elsewhere_cpus() != nullptr) return cpus;
  const std::size_t own = cpus.size();
  for (const int cpu : listed_cpus(root, "isolated")) {
    const auto own_end = cpus.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::find(cpus.begin(), own_end, cpu) == own_end && may_move_to(cpu)) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

Status check_cpus_there(const std::vector<int>& wanted, const std::vector<int>& online) {
  std::vector<int> absent;
  if (!online.empty())
    std::set_difference(wanted.begin(), wanted.end(), online.begin(), online.end(),
                        std::back_inserter(absent));
  if (absent.empty()) return {};
  const std::string which = absent.size() == 1 ? "CPU " + cpu_list_text(absent) + " is"
                                               : "the CPUs " + cpu_list_text(absent) + " are";
  return not_possible(which + " not there: the machine has " + cpu_list_text(online),
                      "Choose --cpus from " + cpu_list_text(online));
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
  return parse_cpu_times(root.read_text("/proc/stat").value_or(""));
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
  const auto info = root.read_text("/proc/cpuinfo");
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

namespace {

std::optional<std::int64_t> known_count(const SmiCounter& counter, int cpu) {
  const std::int64_t count = counter.read(cpu);
  return count < 0 ? std::nullopt : std::optional(count);
}

}  // namespace

std::vector<SmiReading> read_smis_before(const Root& root, const std::vector<int>& cpus) {
  const SmiCounter counter(root);
  std::vector<SmiReading> readings;
  for (const int cpu : cpus) readings.push_back({cpu, known_count(counter, cpu), std::nullopt});
  return readings;
}

void read_smis_after(const Root& root, std::vector<SmiReading>& readings) {
  const SmiCounter counter(root);
  for (SmiReading& one : readings) one.after = known_count(counter, one.cpu);
}

std::optional<std::int64_t> most_smis(const std::vector<SmiReading>& readings) {
  std::optional<std::int64_t> most;
  for (const SmiReading& one : readings) {
    if (!one.before || !one.after) return std::nullopt;
    most = std::max(most.value_or(0), *one.after - *one.before);
  }
  return most;
}

}  // namespace howlate
