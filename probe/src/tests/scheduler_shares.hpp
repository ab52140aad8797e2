// The question `shares` of the test scheduler: what a nice value is worth.
#pragma once

#include <cstdint>

#include "cell/cell.hpp"
#include "points/points.hpp"

namespace howlate {

inline constexpr int nice_min = -20, nice_max = 19;

// The kernel's weight of a task at this nice value (sched_prio_to_weight): 1024 at 0, and a factor of about 1.25 a step.
std::int64_t nice_weight(int nice);
// What part of the CPU a task at this nice value gets beside one at 0, where both always want it.
double expected_share(int nice);

Result<ExitCode> ask_about_shares(Cell& cell, PointsPlan plan, int cpu);

}  // namespace howlate
