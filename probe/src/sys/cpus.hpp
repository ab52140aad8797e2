// The CPUs: which are there, what they did, how fast they run, and how often the firmware took them away.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sys/root.hpp"

namespace howlate {

std::vector<int> online_cpus(const Root& root);

// Running totals of one CPU from /proc/stat, in ticks.
struct CpuTimes {
  int cpu = 0;
  std::int64_t busy = 0;   // user, nice, system, irq, softirq (guest time is part of user)
  std::int64_t tasks = 0;  // the same without interrupts: user, nice, system
  std::int64_t steal = 0;  // another guest's, as the hypervisor tells
  std::int64_t idle = 0;   // idle and iowait
};
std::vector<CpuTimes> parse_cpu_times(std::string_view proc_stat);
std::vector<CpuTimes> read_cpu_times(const Root& root);
std::int64_t tick_ns();

// Of cpufreq, in kHz; 0 = unknown. Reading it can interrupt that CPU: some kernels (x86 before 6.0) ask the CPU itself.
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

}  // namespace howlate
