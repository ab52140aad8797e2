// One file, one fact.
#include "facts/fact.hpp"
#include "knobs/knob.hpp"

namespace howlate {
namespace {

struct FileFact {
  std::string_view key;
  std::string_view path;
  FactKind kind;
};

constexpr FileFact file_facts[] = {
    {"kernel.release", "/proc/sys/kernel/osrelease", FactKind::text},
    {"kernel.version", "/proc/sys/kernel/version", FactKind::text},
    {"kernel.boot_id", "/proc/sys/kernel/random/boot_id", FactKind::text},
    {"kernel.realtime", "/sys/kernel/realtime", FactKind::integer},
    {"kernel.preempt_mode", "/sys/kernel/debug/sched/preempt", FactKind::text},
    {"sched.rt_period_us", "/proc/sys/kernel/sched_rt_period_us", FactKind::integer},
    {"caller.timer_slack_ns", "/proc/self/timerslack_ns", FactKind::integer},
    {"clock.available", "/sys/devices/system/clocksource/clocksource0/available_clocksource", FactKind::text},
    {"cpu.online", "/sys/devices/system/cpu/online", FactKind::text},
    {"cpu.possible", "/sys/devices/system/cpu/possible", FactKind::text},
    {"cpu.isolated", "/sys/devices/system/cpu/isolated", FactKind::text},
    {"cpu.nohz_full", "/sys/devices/system/cpu/nohz_full", FactKind::text},
    {"cpu.smt_active", "/sys/devices/system/cpu/smt/active", FactKind::integer},
    {"cpu.smt_control", "/sys/devices/system/cpu/smt/control", FactKind::text},
    {"cpu.idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver", FactKind::text},
    {"cpu.idle_governor", "/sys/devices/system/cpu/cpuidle/current_governor_ro", FactKind::text},
    {"cpu.haltpoll_ns", "/sys/module/haltpoll/parameters/guest_halt_poll_ns", FactKind::integer},
    {"memory.swappiness", "/proc/sys/vm/swappiness", FactKind::integer},
    {"memory.thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag", FactKind::text},
    {"memory.numa_nodes", "/sys/devices/system/node/online", FactKind::text},
    {"watchdog.threshold_s", "/proc/sys/kernel/watchdog_thresh", FactKind::integer},
    {"watchdog.cpus", "/proc/sys/kernel/watchdog_cpumask", FactKind::text},
    {"machine.vendor", "/sys/class/dmi/id/sys_vendor", FactKind::text},
    {"machine.product", "/sys/class/dmi/id/product_name", FactKind::text},
    {"machine.model", "/proc/device-tree/model", FactKind::text},
    {"trace.bpf_stats", "/proc/sys/kernel/bpf_stats_enabled", FactKind::integer},
};

// A folder that is there and empty is where a file system is not mounted.
Error reason(const Root& tree, Error error) {
  if (error.message.starts_with("/sys/kernel/debug/") && tree.exists("/sys/kernel/debug") &&
      tree.list("/sys/kernel/debug").empty()) {
    error.message += " (debugfs is not mounted or may not be read)";
    error.absent = false;
  }
  return error;
}

// "on" or "off", whoever drives the frequency.
void gather_turbo(const Root& tree, FactList& facts) {
  const auto no_turbo = tree.read_integer(std::string(cpus_folder) + "/intel_pstate/no_turbo");
  if (no_turbo) return facts.text("cpu.turbo", *no_turbo == 0 ? "on" : "off");
  const auto boost = tree.read_integer(std::string(cpus_folder) + "/cpufreq/boost");
  if (boost) return facts.text("cpu.turbo", *boost != 0 ? "on" : "off");
  facts.absent("cpu.turbo", "neither intel_pstate/no_turbo nor cpufreq/boost is there");
}

void gather_memory(const Root& tree, FactList& facts) {
  for (const auto& [key, name] :
       {std::pair{"memory.total_kib", "MemTotal:"}, {"memory.swap_total_kib", "SwapTotal:"}}) {
    const auto size = tree.read_line("/proc/meminfo", name);
    size ? facts.integer_of(key, to_integer(size->substr(0, size->find(' '))))
         : facts.missing(key, size.error());
  }
}

void gather_distribution(const Root& tree, FactList& facts) {
  auto name = tree.read_line("/etc/os-release", "PRETTY_NAME=");
  if (name && name->size() >= 2 && name->front() == '"' && name->back() == '"')
    name = name->substr(1, name->size() - 2);
  facts.text_of("kernel.distribution", name);
}

// Read as a 32-bit number: the strictest of all requests in force.
void gather_dma_latency(const Root& tree, FactList& facts) {
  const auto bytes = tree.read("/dev/cpu_dma_latency");
  if (!bytes) return facts.missing("cpu.dma_latency_us", bytes.error());
  if (bytes->size() < 4)
    return facts.missing("cpu.dma_latency_us", "/dev/cpu_dma_latency: shorter than 4 bytes");
  unsigned value = 0;
  for (unsigned at = 4; at-- > 0;) value = (value << 8U) | static_cast<unsigned char>((*bytes)[at]);
  facts.integer("cpu.dma_latency_us", static_cast<int>(value));
}

void gather_file(const Root& tree, FactList& facts, const FileFact& fact) {
  if (fact.kind == FactKind::integer) {
    const auto value = tree.read_integer(fact.path);
    value ? facts.integer(fact.key, *value) : facts.missing(fact.key, reason(tree, value.error()));
  } else {
    const auto value = tree.read_text(fact.path);
    value ? facts.text(fact.key, *value) : facts.missing(fact.key, reason(tree, value.error()));
  }
}

// Those of knobs too, which name their files themselves.
void gather_files(const Root& tree, FactList& facts) {
  for (const FileFact& fact : file_facts) gather_file(tree, facts, fact);
  for (const Knob* knob : knobs())
    if (!knob->fact.empty()) gather_file(tree, facts, {knob->fact, knob->file, knob->fact_kind});
  gather_turbo(tree, facts);
  gather_memory(tree, facts);
  gather_distribution(tree, facts);
  gather_dma_latency(tree, facts);
}

}  // namespace

extern const FactGroup fact_files;
const FactGroup fact_files = {"files", gather_files, true};

}  // namespace howlate
