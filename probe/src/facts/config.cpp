// The kernel's configuration: the options that decide or explain lateness.
#include <algorithm>
#include <cstdint>

#include "core/text.hpp"
#include "facts/fact.hpp"

namespace howlate {
namespace {

// The rest of a configuration tells more about its owner than about time.
constexpr std::string_view config_options =
    "HZ NO_HZ_IDLE NO_HZ_FULL HIGH_RES_TIMERS NO_HZ_COMMON HZ_PERIODIC PREEMPT_NONE PREEMPT_VOLUNTARY "
    "PREEMPT "
    "PREEMPT_LAZY PREEMPT_DYNAMIC PREEMPT_RT PREEMPT_RT_FULL PREEMPTION PREEMPT_NONE_BUILD "
    "PREEMPT_VOLUNTARY_BUILD PREEMPT_BUILD RT_GROUP_SCHED CFS_BANDWIDTH SCHED_AUTOGROUP CPUSETS "
    "CPU_ISOLATION "
    "RCU_NOCB_CPU RCU_BOOST RCU_NOCB_CPU_DEFAULT_ALL IRQ_FORCED_THREADING SCHED_CORE SMP SCHED_SMT CPU_FREQ "
    "CPU_IDLE HALTPOLL_CPUIDLE NUMA_BALANCING KSM TRANSPARENT_HUGEPAGE COMPACTION SWAP FTRACE "
    "FUNCTION_TRACER "
    "TIMERLAT_TRACER OSNOISE_TRACER HWLAT_TRACER IRQSOFF_TRACER PREEMPT_TRACER KPROBES BPF_SYSCALL AUDIT "
    "PARAVIRT PARAVIRT_TIME_ACCOUNTING HYPERVISOR_GUEST MODULES PROVE_LOCKING LOCKDEP LOCK_STAT "
    "DEBUG_LOCK_ALLOC DEBUG_SPINLOCK DEBUG_MUTEXES DEBUG_RT_MUTEXES DEBUG_RWSEMS DEBUG_WW_MUTEX_SLOWPATH "
    "DEBUG_ATOMIC_SLEEP DEBUG_PREEMPT PROVE_RCU RCU_EQS_DEBUG KASAN KCSAN KMSAN UBSAN KFENCE KCOV "
    "GCOV_KERNEL "
    "DEBUG_KMEMLEAK SLUB_DEBUG_ON DEBUG_SLAB DEBUG_PAGEALLOC DEBUG_PAGEALLOC_ENABLE_DEFAULT PAGE_OWNER "
    "PAGE_POISONING DEBUG_VM DEBUG_OBJECTS DEBUG_OBJECTS_TIMERS DEBUG_LIST DEBUG_SG DEBUG_NOTIFIERS "
    "DEBUG_IRQFLAGS SCHED_DEBUG SCHEDSTATS LATENCYTOP DEBUG_TIMEKEEPING DMA_API_DEBUG FAULT_INJECTION "
    "DEBUG_STACK_USAGE DEBUG_STACKOVERFLOW WQ_WATCHDOG DETECT_HUNG_TASK SOFTLOCKUP_DETECTOR "
    "HARDLOCKUP_DETECTOR INIT_ON_ALLOC_DEFAULT_ON INIT_ON_FREE_DEFAULT_ON CSD_LOCK_WAIT_DEBUG "
    "IRQ_TIME_ACCOUNTING VIRT_CPU_ACCOUNTING_GEN TRACE_IRQFLAGS DEBUG_PER_CPU_MAPS TICK_CPU_ACCOUNTING";

std::string options_json(std::string_view config) {
  const auto options = split(config_options, ' ');
  JsonWriter json;
  json.begin_object();
  for (const std::string& line : parts_of(config, '\n')) {
    if (!line.starts_with("CONFIG_")) continue;
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(7, equals - 7);
    if (std::find(options.begin(), options.end(), name) == options.end()) continue;
    json.member(name, trimmed(std::string_view(line).substr(equals + 1)));
  }
  json.end_object();
  return json.take();
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = at; i < at + 3; ++i)
      three = three << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (unsigned i = 0; i < 4; ++i)
      out += at + i > bytes.size() ? '=' : digits[three >> (18U - 6U * i) & 63U];
  }
  return out;
}

// As the kernel packed it, with the names of the options that a reader keeps of it: the host unpacks it, which has a library
// for that (docs/adr/0008-config-gz.md).
void packed_config(FactList& facts, std::string_view packed) {
  JsonWriter json;
  json.begin_object().member("options", config_options).member("gzip", base64(packed)).end_object();
  facts.json("kernel.config_gz", json.take());
  facts.text("kernel.config_source", "/proc/config.gz");
  facts.missing("kernel.config", "/proc/config.gz is compressed: zcat shows it, and howlate unpacks it");
}

// /proc/config.gz, else the places where distributions leave it.
void gather_config(const Root& tree, FactList& facts) {
  const auto packed = tree.read("/proc/config.gz");
  if (packed) return packed_config(facts, *packed);
  std::string why = packed.error().message;
  const auto release = tree.read_text("/proc/sys/kernel/osrelease");
  if (release) {
    for (const std::string& path :
         {"/boot/config-" + *release, "/lib/modules/" + *release + "/config",
          "/usr/lib/modules/" + *release + "/config", "/lib/modules/" + *release + "/build/.config"}) {
      const auto config = tree.read(path);
      if (!config) continue;
      facts.text("kernel.config_source", path.starts_with("/boot") ? "/boot" : "/lib/modules");
      return facts.json("kernel.config", options_json(*config));
    }
    why += ", and there is no config of this kernel in /boot or /lib/modules";
  }
  facts.missing("kernel.config_source", why);
  facts.missing("kernel.config", why);
}

}  // namespace

extern const FactGroup fact_config;
const FactGroup fact_config = {"config", gather_config};

}  // namespace howlate
