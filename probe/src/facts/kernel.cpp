// The kernel: how it was built, how it was started.
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>

#include "core/text.hpp"
#include "facts/fact.hpp"

namespace howlate {
namespace {

// Parameters whose values matter for lateness and tell nothing about who runs the machine. A trailing '*'
// means "begins with".
constexpr std::string_view boot_parameters =
    "isolcpus nohz_full nohz rcu_nocbs rcu_nocb_poll rcupdate.* rcutree.* threadirqs preempt irqaffinity "
    "kthread_cpus skew_tick idle processor.* intel_idle.* cpuidle.* cpuidle_haltpoll.* haltpoll.* "
    "intel_pstate amd_pstate cpufreq.* clocksource tsc hpet highres lapic_timer_c2_ok nosmt mitigations "
    "spectre_v2 spectre_v2_user spec_store_bypass_disable pti nopti nospectre_v1 nospectre_v2 l1tf mds tsx "
    "tsx_async_abort srbds mmio_stale_data retbleed kpti ssbd spec_rstack_overflow gather_data_sampling "
    "nopcid maxcpus nr_cpus transparent_hugepage numa_balancing nmi_watchdog nowatchdog nosoftlockup "
    "watchdog_thresh softlockup_panic mce nomce workqueue.* audit psi slub_debug slab_debug kasan kasan.* "
    "kmemleak page_poison page_owner debug_pagealloc init_on_alloc init_on_free lockdep acpi_irq_nobalance "
    "noirqbalance irqfixup irqpoll noapic nolapic nosmp acpi pcie_aspm rcu_normal rcu_normal_after_boot "
    "csdlock_debug sched_* tick_* quiet loglevel ftrace trace_event ftrace_filter no_timer_check paravirt "
    "no-kvmclock no-steal-acc kvm-* cgroup_disable systemd.unified_cgroup_hierarchy swapaccount "
    "i915.enable_rc6 i915.enable_dc x2apic_phys hugepagesz hugepages default_hugepagesz ksm sysctl.* "
    "timer_migration";

bool listed(std::string_view name) {
  const auto names = split(boot_parameters, ' ');
  return std::any_of(names.begin(), names.end(), [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
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

Result<std::string> safe_command_line(const Root& tree) {
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

void gather_kernel(const Root& tree, FactList& facts) {
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
    facts.missing("kernel.uptime_s", uptime.error());
  }
}

}  // namespace

extern const FactGroup fact_kernel;
const FactGroup fact_kernel = {"kernel", gather_kernel, true};

}  // namespace howlate
