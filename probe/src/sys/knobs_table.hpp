// The knobs, and what their plans share. A knob's plan only reads: it says which files are to hold which
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sys/knobs.hpp"
#include "sys/knobs_setting.hpp"

namespace howlate {

extern const Knob knob_c_states;
extern const Knob knob_cpu_dma_latency;
extern const Knob knob_cpuset;
extern const Knob knob_governor;
extern const Knob knob_irq_affinity;
extern const Knob knob_nmi_watchdog;
extern const Knob knob_rt_throttling;
extern const Knob knob_thp;
extern const Knob knob_timer_migration;
extern const Knob knob_turbo;
extern const Knob knob_workqueue_cpumask;

using Settings = std::vector<Setting>;

Setting file_setting(std::string path, std::string wanted, Form form = Form::exact);
// Is the file there, and may it be written? `without` is the sentence for when it is not there.
Status file_available(const KnobContext& context, const std::string& path, std::string_view without);
// "on" or "off"; `name` is the knob's.
Result<bool> on_or_off(std::string_view name, std::string_view value);
std::vector<int> online_cpus(const KnobContext& context);
// "away": all online CPUs but the measuring ones; else the list given. Never empty.
Result<std::vector<int>> away_or_list(const KnobContext& context, std::string_view name,
                                      std::string_view value);

// "/sys/fs/cgroup/cpuset/howlate-..." of the knob cpuset among the settings, or "".
std::string cpuset_folder(const Settings& settings);

}  // namespace howlate
