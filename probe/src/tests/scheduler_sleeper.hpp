// The question `sleeper` of the test scheduler: how late a task that mostly sleeps is, beside tasks that never do.
#pragma once

#include "cell/cell.hpp"
#include "points/points.hpp"

namespace howlate {

// `policy` is the sleeper's; the others are SCHED_OTHER.
Result<ExitCode> ask_about_sleepers(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy);

}  // namespace howlate
