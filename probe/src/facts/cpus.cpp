// The processors: model, sleeping, frequency, siblings, heat, weaknesses mended, and who may be below them.
#include <algorithm>
#include <set>

#include "facts/fact.hpp"
#include "sys/hypervisor.hpp"

namespace howlate {
namespace {

std::string cpu_path(int cpu, std::string_view rest) {
  return std::string(cpus_folder) + "/cpu" + std::to_string(cpu) + std::string(rest);
}

void table(FactList& facts, std::string_view key, const RowsByCpus& rows, std::string reason) {
  rows.empty() ? facts.absent(key, std::move(reason)) : facts.json(key, table_json(rows.rows()));
}

// Members that cannot be read are null.
FactRow& text_member(FactRow& row, std::string_view name, const Result<std::string>& value) {
  return value ? row.text(name, *value) : row.json(name, "null");
}
FactRow& integer_member(FactRow& row, std::string_view name, const Result<long long>& value) {
  return value ? row.integer(name, *value) : row.json(name, "null");
}

void gather_idle_states(const Root& tree, const std::vector<int>& cpus, FactList& facts) {
  RowsByCpus rows;
  for (const int cpu : cpus) {
    for (const int state : tree.numbered(cpu_path(cpu, "/cpuidle"), "state")) {
      const std::string path = cpu_path(cpu, "/cpuidle/state" + std::to_string(state));
      FactRow row;
      row.integer("state", state);
      text_member(row, "name", tree.read_text(path + "/name"));
      integer_member(row, "latency_us", tree.read_integer(path + "/latency"));
      integer_member(row, "residency_us", tree.read_integer(path + "/residency"));
      const auto disabled = tree.read_integer(path + "/disable");
      disabled ? row.flag("disabled", *disabled != 0) : row.json("disabled", "null");
      rows.add(row, cpu);
    }
  }
  table(facts, "cpu.idle_states", rows,
        "there is no cpuidle folder: the kernel knows no idle states to choose from");
}

void gather_frequency(const Root& tree, const std::vector<int>& cpus, FactList& facts) {
  RowsByCpus rows;
  for (const int cpu : cpus) {
    const std::string path = cpu_path(cpu, "/cpufreq");
    if (!tree.exists(path)) continue;
    FactRow row;
    text_member(row, "driver", tree.read_text(path + "/scaling_driver"));
    text_member(row, "governor", tree.read_text(path + "/scaling_governor"));
    text_member(row, "governors", tree.read_text(path + "/scaling_available_governors"));
    integer_member(row, "min_khz", tree.read_integer(path + "/scaling_min_freq"));
    integer_member(row, "max_khz", tree.read_integer(path + "/scaling_max_freq"));
    integer_member(row, "hardware_max_khz", tree.read_integer(path + "/cpuinfo_max_freq"));
    text_member(row, "preference", tree.read_text(path + "/energy_performance_preference"));
    rows.add(row, cpu);
  }
  table(facts, "cpu.frequency", rows,
        "there is no cpufreq folder: the kernel does not drive the frequency here");
}

void gather_siblings(const Root& tree, const std::vector<int>& cpus, FactList& facts) {
  std::set<std::string> groups;
  for (const int cpu : cpus) {
    const auto siblings = tree.read_text(cpu_path(cpu, "/topology/thread_siblings_list"));
    if (siblings) groups.insert(*siblings);
  }
  if (groups.empty()) return facts.absent("cpu.siblings", "no CPU has topology/thread_siblings_list");
  JsonWriter json;
  json.begin_array();
  for (const std::string& group : groups) json.value(group);
  json.end_array();
  facts.json("cpu.siblings", json.take());
}

// Times that a CPU was slowed because it, or its package, was too hot; since boot. The greatest of all CPUs.
void gather_heat(const Root& tree, const std::vector<int>& cpus, FactList& facts) {
  for (const auto& [key, file] : {std::pair{"cpu.throttled_core", "/thermal_throttle/core_throttle_count"},
                                  {"cpu.throttled_package", "/thermal_throttle/package_throttle_count"}}) {
    long long most = -1;
    for (const int cpu : cpus) {
      const auto count = tree.read_integer(cpu_path(cpu, file));
      if (count) most = std::max(most, *count);
    }
    most < 0 ? facts.absent(key, "no CPU has thermal_throttle counters") : facts.integer(key, most);
  }
}

void gather_vulnerabilities(const Root& tree, FactList& facts) {
  const std::string folder = std::string(cpus_folder) + "/vulnerabilities";
  JsonWriter json;
  json.begin_object();
  bool any = false;
  for (const std::string& name : tree.list(folder)) {
    const auto text = tree.read_text(folder + "/" + name);
    if (!text) continue;
    json.member(name, *text);
    any = true;
  }
  json.end_object();
  std::string text = json.take();
  any ? facts.json("cpu.vulnerabilities", std::move(text))
      : facts.absent("cpu.vulnerabilities", folder + " is not there");
}

// What "kernel.debug/sched/fair_server" gives tasks that are not real-time, CPU by CPU.
void gather_fair_server(const Root& tree, FactList& facts) {
  constexpr std::string_view folder = "/sys/kernel/debug/sched/fair_server";
  RowsByCpus rows;
  for (const int cpu : tree.numbered(folder, "cpu")) {
    const std::string path = std::string(folder) + "/cpu" + std::to_string(cpu);
    FactRow row;
    integer_member(row, "runtime_ns", tree.read_integer(path + "/runtime"));
    integer_member(row, "period_ns", tree.read_integer(path + "/period"));
    rows.add(row, cpu);
  }
  if (!tree.exists("/sys/kernel/debug/sched"))
    return facts.missing("sched.fair_server", "debugfs is not mounted or may not be read");
  table(facts, "sched.fair_server", rows, "this kernel has no fair server");
}

// Model and flags of the first processor of /proc/cpuinfo; where it names no model (arm), the implementer's
// numbers.
void gather_model(const Root& tree, FactList& facts) {
  const auto info = tree.read("/proc/cpuinfo");
  if (!info) {
    for (const auto key : {"cpu.model", "cpu.flags", "cpu.microcode"}) facts.missing(key, info.error());
    return;
  }
  for (const auto key : {"cpu.model", "cpu.flags", "cpu.microcode"})
    facts.missing(key, "/proc/cpuinfo does not say it");
  constexpr std::array<std::string_view, 11> wanted = {
      "hypervisor",         "constant_tsc", "nonstop_tsc", "tsc_reliable", "tsc_known_freq", "arat",
      "tsc_deadline_timer", "ht",           "pti",         "tsc_adjust",   "xtopology"};
  std::string arm;
  for (const std::string& line : parts_of(*info, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = trimmed(std::string_view(line).substr(0, colon));
    const std::string value = trimmed(std::string_view(line).substr(colon + 1));
    if (name == "processor" && value != "0") break;
    if (name == "model name") facts.text("cpu.model", value);
    if (name == "microcode") facts.text("cpu.microcode", value);
    if (name == "CPU implementer" || name == "CPU part")
      arm += (arm.empty() ? "" : ", ") + name + " " + value;
    if (name == "flags") {
      std::string kept;
      for (const std::string& flag : parts_of(value, ' ')) {
        if (std::find(wanted.begin(), wanted.end(), flag) == wanted.end()) continue;
        kept += (kept.empty() ? "" : " ") + flag;
      }
      facts.text("cpu.flags", kept);
    }
  }
  if (!arm.empty()) facts.text("cpu.model", arm);
}

// Ticks since boot, of all CPUs together: those stolen by the hypervisor, and all.
void gather_steal(const Root& tree, FactList& facts) {
  const auto stat = tree.read("/proc/stat");
  const auto lines = stat ? parts_of(*stat, '\n') : std::vector<std::string>{};
  const auto words = lines.empty() ? std::vector<std::string>{} : parts_of(lines.front(), ' ');
  if (words.size() < 9 || words.front() != "cpu") {
    for (const auto key : {"cpu.steal_ticks", "cpu.total_ticks"}) {
      facts.missing(key, stat ? broken("/proc/stat does not count it") : stat.error());
    }
    return;
  }
  long long total = 0;
  for (std::size_t at = 1; at < 9; ++at) {  // guest time is part of user time
    const auto ticks = to_integer(words[at]);
    if (ticks) total += *ticks;
  }
  facts.integer_of("cpu.steal_ticks", to_integer(words[8]));
  facts.integer("cpu.total_ticks", total);
}

// "" where nothing speaks for a hypervisor.
void gather_hypervisor(const Root& tree, FactList& facts) {
  if (const auto type = tree.read_text("/sys/hypervisor/type"); type)
    return facts.text("machine.hypervisor", *type);
  if (tree.is_machine()) {
    if (const std::string name = cpuid_hypervisor(); !name.empty())
      return facts.text("machine.hypervisor", name);
  }
  const auto compatible = tree.read_text("/proc/device-tree/hypervisor/compatible");
  if (compatible) return facts.text("machine.hypervisor", *compatible);
  const auto info = tree.read("/proc/cpuinfo");
  if (!info) return facts.missing("machine.hypervisor", info.error());
  facts.text("machine.hypervisor", info->find(" hypervisor") != std::string::npos ? "unnamed" : "");
}

void gather_cpus(const Root& tree, FactList& facts) {
  const std::vector<int> cpus = tree.numbered(cpus_folder, "cpu");
  gather_idle_states(tree, cpus, facts);
  gather_frequency(tree, cpus, facts);
  gather_siblings(tree, cpus, facts);
  gather_heat(tree, cpus, facts);
  gather_vulnerabilities(tree, facts);
  gather_fair_server(tree, facts);
  gather_model(tree, facts);
  gather_steal(tree, facts);
  gather_hypervisor(tree, facts);
}

}  // namespace

extern const FactGroup fact_cpus;
const FactGroup fact_cpus = {"cpus", gather_cpus};

}  // namespace howlate
