// The CPUs: which exist, what they did, how fast they run, and how often the firmware took them away.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

std::vector<int> online_cpus(const Root& root);
std::vector<int> present_cpus(const Root& root);  // online or not
Status set_online(const Root& root, int cpu);
// The CPUs that this process may name: its own, and those that isolcpus= takes out of every process's own until the process asks for
// one. A cpuset is respected.
std::vector<int> nameable_cpus(const Root& root);
// Whether all of these CPUs are online; both lists are sorted. True if the online CPUs are unknown.
Status check_cpus_there(const std::vector<int>& wanted, const std::vector<int>& online);

// Running totals of one CPU from /proc/stat, in ticks.
struct CpuTimes {
  int cpu = 0;
  std::int64_t busy = 0;   // user, nice, system, irq, softirq (guest time is part of user)
  std::int64_t tasks = 0;  // the same without interrupts: user, nice, system
  std::int64_t steal = 0;  // given to other guests, as the hypervisor reports
  std::int64_t idle = 0;   // idle and iowait
};
std::vector<CpuTimes> parse_cpu_times(std::string_view proc_stat);
std::vector<CpuTimes> read_cpu_times(const Root& root);
std::int64_t tick_ns();

// From cpufreq, in kHz; 0 = unknown. Reading it can interrupt that CPU: some kernels (x86 before 6.0) ask the CPU itself.
std::int64_t cpu_frequency_khz(const Root& root, int cpu);

// MSR_SMI_COUNT (0x34), which Intel's CPUs have, and those that QEMU and KVM make. Reading it interrupts that CPU.
// -1 = unknown.
class SmiCounter {
 public:
  explicit SmiCounter(const Root& root);
  [[nodiscard]] std::int64_t read(int cpu) const;

 private:
  Root root_;
  bool counts_ = false;
};

// What one CPU counted before and after a stretch; nothing = unknown.
struct SmiReading {
  int cpu = 0;
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> after;
};

// The SMIs of several CPUs. Firmware may have one of them or all enter an SMI: each counts for itself.
std::vector<SmiReading> read_smis_before(const Root& root, const std::vector<int>& cpus);
void read_smis_after(const Root& root, std::vector<SmiReading>& readings);
// The most that one of them counted meanwhile; nothing where one is unknown.
std::optional<std::int64_t> most_smis(const std::vector<SmiReading>& readings);

}  // namespace howlate
