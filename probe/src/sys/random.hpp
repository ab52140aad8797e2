#pragma once

#include <cstdint>

namespace howlate {

// A seed that nobody chose, below 2^53 so that every reader of JSON keeps it.
std::int64_t random_seed();

}  // namespace howlate
