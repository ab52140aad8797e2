// Planning for another machine (`howlate-probe plan --elsewhere`): its CPUs are given, and what this machine lacks does
// not matter.
#pragma once

#include <vector>

#include "core/result.hpp"

namespace howlate {

// From now on read_affinity() and online_cpus() return these CPUs, and every policy is permitted. Call it before either of them.
void plan_elsewhere(std::vector<int> cpus);

// The given CPUs; null if this machine measures.
const std::vector<int>* elsewhere_cpus();

// The status found on this machine if it is the one that measures; otherwise always good.
Status if_here(Status found);

}  // namespace howlate
