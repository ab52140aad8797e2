#include "sys/random.hpp"

#include <sys/random.h>

#include "sys/clock.hpp"

namespace howlate {

std::int64_t random_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    seed = static_cast<std::uint64_t>(monotonic_now_ns());
  return static_cast<std::int64_t>(seed & ((std::uint64_t{1} << 53U) - 1));
}

}  // namespace howlate
