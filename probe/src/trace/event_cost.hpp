// What recording one event costs the task that it comes in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "sys/trace_instance.hpp"

namespace howlate {

// Measured on one of the CPUs: the median time of three system calls after a pause that have an event in them (wait4 for no child of
// ours: sched_process_wait), with the event recorded minus without; a third of it. Nothing where the kernel does not have that
// event. The instance records afterwards as before.
std::optional<std::int64_t> measure_event_cost(const TraceInstance& instance, const std::vector<int>& cpus,
                                               const SchedPolicy& policy, const Root& root);

}  // namespace howlate
