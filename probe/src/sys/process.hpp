// The life of a process that another one started: it ends when its parent does; signals that ask it to end
// are waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/params.hpp"
#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

// The kernel sends `signal` to this process when the parent ends, however it dies. The parent can have died
// just before: where it is known (`parent` != 0) and is no longer the parent, and where it changed meanwhile,
// the answer is an error and the caller ends. (The kernel means the thread that started this process, not
// only its process.)
Status end_with_parent(int signal, pid_t parent = 0);
// The same with the parent that the option of that name gives, if any.
Status end_with_parent(int signal, const Params& params);

// Blocks every signal that can be blocked, in this thread and in those that it starts, and gives a descriptor
// on which SIGINT, SIGTERM and SIGHUP can be read. To be called before any thread is started.
Result<Fd> take_end_signals();
// The number of the pending signal on the descriptor, or 0.
int take_signal(const Fd& fd);
// Waits for a signal until that instant (CLOCK_MONOTONIC); otherwise the same.
int await_signal(const Fd& fd, std::int64_t until_ns);

}  // namespace howlate
