// The kernel: how it was built, how it was started.
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "sys/facts_inflate.hpp"
#include "sys/facts_list.hpp"

namespace howlate {
namespace {

// Options that decide or explain lateness; the rest of a configuration tells more about its owner than about
// time.
constexpr std::string_view config_options[] = {"HZ",
                                               "NO_HZ_IDLE",
                                               "NO_HZ_FULL",
                                               "HIGH_RES_TIMERS",
                                               "NO_HZ_COMMON",
                                               "HZ_PERIODIC",
                                               "PREEMPT_NONE",
                                               "PREEMPT_VOLUNTARY",
                                               "PREEMPT",
                                               "PREEMPT_LAZY",
                                               "PREEMPT_DYNAMIC",
                                               "PREEMPT_RT",
                                               "PREEMPT_RT_FULL",
                                               "PREEMPTION",
                                               "PREEMPT_NONE_BUILD",
                                               "PREEMPT_VOLUNTARY_BUILD",
                                               "PREEMPT_BUILD",
                                               "RT_GROUP_SCHED",
                                               "CFS_BANDWIDTH",
                                               "SCHED_AUTOGROUP",
                                               "CPUSETS",
                                               "CPU_ISOLATION",
                                               "RCU_NOCB_CPU",
                                               "RCU_BOOST",
                                               "RCU_NOCB_CPU_DEFAULT_ALL",
                                               "IRQ_FORCED_THREADING",
                                               "SCHED_CORE",
                                               "SMP",
                                               "SCHED_SMT",
                                               "CPU_FREQ",
                                               "CPU_IDLE",
                                               "HALTPOLL_CPUIDLE",
                                               "NUMA_BALANCING",
                                               "KSM",
                                               "TRANSPARENT_HUGEPAGE",
                                               "COMPACTION",
                                               "SWAP",
                                               "FTRACE",
                                               "FUNCTION_TRACER",
                                               "TIMERLAT_TRACER",
                                               "OSNOISE_TRACER",
                                               "HWLAT_TRACER",
                                               "IRQSOFF_TRACER",
                                               "PREEMPT_TRACER",
                                               "KPROBES",
                                               "BPF_SYSCALL",
                                               "AUDIT",
                                               "PARAVIRT",
                                               "PARAVIRT_TIME_ACCOUNTING",
                                               "HYPERVISOR_GUEST",
                                               "MODULES",
                                               "PROVE_LOCKING",
                                               "LOCKDEP",
                                               "LOCK_STAT",
                                               "DEBUG_LOCK_ALLOC",
                                               "DEBUG_SPINLOCK",
                                               "DEBUG_MUTEXES",
                                               "DEBUG_RT_MUTEXES",
                                               "DEBUG_RWSEMS",
                                               "DEBUG_WW_MUTEX_SLOWPATH",
                                               "DEBUG_ATOMIC_SLEEP",
                                               "DEBUG_PREEMPT",
                                               "PROVE_RCU",
                                               "RCU_EQS_DEBUG",
                                               "KASAN",
                                               "KCSAN",
                                               "KMSAN",
                                               "UBSAN",
                                               "KFENCE",
                                               "KCOV",
                                               "GCOV_KERNEL",
                                               "DEBUG_KMEMLEAK",
                                               "SLUB_DEBUG_ON",
                                               "DEBUG_SLAB",
                                               "DEBUG_PAGEALLOC",
                                               "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
                                               "PAGE_OWNER",
                                               "PAGE_POISONING",
                                               "DEBUG_VM",
                                               "DEBUG_OBJECTS",
                                               "DEBUG_OBJECTS_TIMERS",
                                               "DEBUG_LIST",
                                               "DEBUG_SG",
                                               "DEBUG_NOTIFIERS",
                                               "DEBUG_IRQFLAGS",
                                               "SCHED_DEBUG",
                                               "SCHEDSTATS",
                                               "LATENCYTOP",
                                               "DEBUG_TIMEKEEPING",
                                               "DMA_API_DEBUG",
                                               "FAULT_INJECTION",
                                               "DEBUG_STACK_USAGE",
                                               "DEBUG_STACKOVERFLOW",
                                               "WQ_WATCHDOG",
                                               "DETECT_HUNG_TASK",
                                               "SOFTLOCKUP_DETECTOR",
                                               "HARDLOCKUP_DETECTOR",
                                               "INIT_ON_ALLOC_DEFAULT_ON",
                                               "INIT_ON_FREE_DEFAULT_ON",
                                               "CSD_LOCK_WAIT_DEBUG",
                                               "IRQ_TIME_ACCOUNTING",
                                               "VIRT_CPU_ACCOUNTING_GEN",
                                               "TRACE_IRQFLAGS",
                                               "DEBUG_PER_CPU_MAPS",
                                               "TICK_CPU_ACCOUNTING"};

// Parameters whose values matter for lateness and tell nothing about who runs the machine. A trailing '*'
// means "begins with".
constexpr std::string_view boot_parameters[] = {"isolcpus",
                                                "nohz_full",
                                                "nohz",
                                                "rcu_nocbs",
                                                "rcu_nocb_poll",
                                                "rcupdate.*",
                                                "rcutree.*",
                                                "threadirqs",
                                                "preempt",
                                                "irqaffinity",
                                                "kthread_cpus",
                                                "skew_tick",
                                                "idle",
                                                "processor.*",
                                                "intel_idle.*",
                                                "cpuidle.*",
                                                "cpuidle_haltpoll.*",
                                                "haltpoll.*",
                                                "intel_pstate",
                                                "amd_pstate",
                                                "cpufreq.*",
                                                "clocksource",
                                                "tsc",
                                                "hpet",
                                                "highres",
                                                "lapic_timer_c2_ok",
                                                "nosmt",
                                                "mitigations",
                                                "spectre_v2",
                                                "spectre_v2_user",
                                                "spec_store_bypass_disable",
                                                "pti",
                                                "nopti",
                                                "nospectre_v1",
                                                "nospectre_v2",
                                                "l1tf",
                                                "mds",
                                                "tsx",
                                                "tsx_async_abort",
                                                "srbds",
                                                "mmio_stale_data",
                                                "retbleed",
                                                "kpti",
                                                "ssbd",
                                                "spec_rstack_overflow",
                                                "gather_data_sampling",
                                                "nopcid",
                                                "maxcpus",
                                                "nr_cpus",
                                                "transparent_hugepage",
                                                "numa_balancing",
                                                "nmi_watchdog",
                                                "nowatchdog",
                                                "nosoftlockup",
                                                "watchdog_thresh",
                                                "softlockup_panic",
                                                "mce",
                                                "nomce",
                                                "workqueue.*",
                                                "audit",
                                                "psi",
                                                "slub_debug",
                                                "slab_debug",
                                                "kasan",
                                                "kasan.*",
                                                "kmemleak",
                                                "page_poison",
                                                "page_owner",
                                                "debug_pagealloc",
                                                "init_on_alloc",
                                                "init_on_free",
                                                "lockdep",
                                                "acpi_irq_nobalance",
                                                "noirqbalance",
                                                "irqfixup",
                                                "irqpoll",
                                                "noapic",
                                                "nolapic",
                                                "nosmp",
                                                "acpi",
                                                "pcie_aspm",
                                                "rcu_normal",
                                                "rcu_normal_after_boot",
                                                "csdlock_debug",
                                                "sched_*",
                                                "tick_*",
                                                "quiet",
                                                "loglevel",
                                                "ftrace",
                                                "trace_event",
                                                "ftrace_filter",
                                                "no_timer_check",
                                                "paravirt",
                                                "no-kvmclock",
                                                "no-steal-acc",
                                                "kvm-*",
                                                "cgroup_disable",
                                                "systemd.unified_cgroup_hierarchy",
                                                "swapaccount",
                                                "i915.enable_rc6",
                                                "i915.enable_dc",
                                                "x2apic_phys",
                                                "hugepagesz",
                                                "hugepages",
                                                "default_hugepagesz",
                                                "ksm",
                                                "sysctl.*",
                                                "timer_migration"};

bool listed(std::string_view name) {
  return std::any_of(std::begin(boot_parameters), std::end(boot_parameters), [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

std::string options_json(std::string_view config) {
  JsonWriter json;
  json.begin_object();
  for (const std::string& line : parts_of(config, '\n')) {
    if (!line.starts_with("CONFIG_")) continue;
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(7, equals - 7);
    if (std::find(std::begin(config_options), std::end(config_options), name) == std::end(config_options))
      continue;
    json.member(name, trimmed(std::string_view(line).substr(equals + 1)));
  }
  json.end_object();
  return json.take();
}

// The words of a command line as the kernel parts them: at white space that is not between quotes, wherever in a
// word these stand; a quote that is not closed goes on to the end.
std::vector<std::string> command_words(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') quoted = !quoted;
    if (!quoted && std::isspace(static_cast<unsigned char>(letter)) != 0) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// The word if its parameter is listed or has no value, else its name alone.
std::string safe_word(const std::string& word) {
  const std::size_t begin = word.starts_with('"') ? 1 : 0;
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(begin, equals == std::string::npos ? equals : equals - begin);
  if (name.find_first_of("\" \t\r\n\v\f") != std::string::npos) return "...";
  return equals == std::string::npos || listed(name) ? word : name + "=...";
}

}  // namespace

// /proc/config.gz, else the places where distributions leave it.
void gather_config(const Tree& tree, FactList& facts) {
  std::string why;
  if (const auto packed = tree.read("/proc/config.gz"); packed) {
    const auto config = gunzip(*packed);
    if (config) {
      facts.text("kernel.config_source", "/proc/config.gz");
      return facts.json("kernel.config", options_json(*config));
    }
    why = "/proc/config.gz: " + config.error().message;
  } else {
    why = packed.error().message;
  }
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

Result<std::string> safe_command_line(const Tree& tree) {
  const auto line = tree.read_text("/proc/cmdline");
  if (!line) return line.error();
  std::string out;
  for (const std::string& word : command_words(*line)) {
    if (word == "--") break;  // what follows is for init
    if (!out.empty()) out += ' ';
    out += safe_word(word);
  }
  return out;
}

void gather_kernel(const Tree& tree, FactList& facts) {
  facts.text_of("kernel.cmdline", safe_command_line(tree));
  struct utsname name {};
  const auto arch = tree.read_text("/proc/sys/kernel/arch");
  if (!arch && tree.is_machine() && ::uname(&name) == 0) {
    facts.text("kernel.machine", static_cast<const char*>(name.machine));
  } else {
    facts.text_of("kernel.machine", arch);
  }
  const auto uptime = tree.read_text("/proc/uptime");
  if (uptime) {
    facts.integer_of("kernel.uptime_s", to_integer(uptime->substr(0, uptime->find('.'))));
  } else {
    facts.missing("kernel.uptime_s", uptime.error().message);
  }
}

}  // namespace howlate
