// Two ways in which the kernel and the processor slow a machine by themselves: real-time throttling, and heat.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

// Times that the CPUs, and their packages, were slowed because they were too hot: added up over the CPUs, since boot. Nothing
// where the machine does not count it (cpuN/thermal_throttle is x86's).
struct HeatCounts {
  std::optional<std::int64_t> core;
  std::optional<std::int64_t> package;
};
HeatCounts read_heat(const Root& root, const std::vector<int>& cpus);

// Whether the kernel throttled real-time tasks (sched_rt_runtime_us) since this was made. The kernel counts it nowhere: it logs it,
// for the first time of a boot alone. So the answer is known when that line came, when the whole log has no such line, or when
// there is no limit; else it is not.
class RtThrottling {
 public:
  explicit RtThrottling(const Root& root);
  [[nodiscard]] std::optional<bool> happened() const;

 private:
  [[nodiscard]] bool limited() const;

  Root root_;
  Fd log_;  // positioned after the last existing line
  bool limited_before_;
};

}  // namespace howlate
