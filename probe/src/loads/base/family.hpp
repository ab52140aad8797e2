// The processes of a load: none outlives its parent.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/result.hpp"
#include "loads/load.hpp"

namespace howlate {

// Forks. In the child (0) the kernel has been asked to kill it when its parent ends, and the signals that ask
// a load to end are ignored: the supervisor answers them, and kills. The request does not pass through a
// fork, so every process of a load is to be made by this; the parent's thread must be its main one. -1 and
// errno as of fork().
pid_t fork_child();

// Called in a worker: its children are listed in its slot, so that the supervisor can add up what they use while they
// live. add_child() when one was made, remove_child() when it was waited for.
void clear_children(WorkerSlot& slot);
void add_child(WorkerSlot& slot, pid_t child);
void remove_child(WorkerSlot& slot, pid_t child);
// Called in the supervisor: CPU time of a worker and of its children, including ended ones.
std::int64_t family_cpu_ns(const WorkerSlot& slot, pid_t worker);

// CPU time of this process and of its children that have ended and been waited for.
std::int64_t own_cpu_ns();
// CPU time of another process, all its threads; 0 if it is gone.
std::int64_t process_cpu_ns(pid_t pid);

}  // namespace howlate
