// One release whose instant the host chooses (docs/lab/prove.md): the machine stops before the release, so that the host can save
// it there, and once more with the latency. What is said goes through words of the window (docs/job.md).
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "timers/timer.hpp"

namespace howlate {

// How long before the release at t0 the machine stops: a task that then comes late by some milliseconds is still there before it.
inline constexpr std::int64_t single_lead_ns = 5'000'000;

// A way to sleep for one activation, around clock_nanosleep(): NotPossible outside of a guest of the lab.
Status run_single(LoopContext& loop);

}  // namespace howlate
