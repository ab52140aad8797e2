// What recording one event costs the task that it comes in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

// Measured on one of the CPUs: the median time of three system calls after a pause that have an event in them (wait4 for no child of
// ours: sched_process_wait), with the event recorded minus without; a third of it. `record` has it recorded from then on; nothing where
// it cannot.
std::optional<std::int64_t> measure_event_cost(const std::function<bool()>& record,
                                               const std::vector<int>& cpus, const SchedPolicy& policy,
                                               const Root& root);

}  // namespace howlate
