// Where and how a test's threads run, from its options `cpus` and `policy`.
#pragma once

#include <vector>

#include "cell/cell.hpp"

namespace howlate {

// The CPUs of --cpus, each of which this process may use; without it the highest one.
Result<std::vector<int>> choose_cpus(const Cell& cell, const Params& in);

// The policy, if a thread of this process may have it. If the right is missing and the policy was not requested: OTHER, with a warning, and
// the option `policy` says so.
Result<SchedPolicy> policy_that_may(Cell& cell, const SchedPolicy& wanted, bool by_default);

}  // namespace howlate
