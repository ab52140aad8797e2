#pragma once

#include <cstdint>

namespace howlate {

// A random seed below 2^53, so that every JSON reader keeps it exactly.
std::int64_t random_seed();

}  // namespace howlate
