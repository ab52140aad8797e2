// Seeded random numbers for tests: the same on every machine.
#pragma once

#include <cstdint>

namespace howlate {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31U);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  // A value that is not negative with a random number of bits: all magnitudes alike.
  std::int64_t magnitude() { return static_cast<std::int64_t>(next() >> (1 + below(63))); }

 private:
  std::uint64_t state_;
};

}  // namespace howlate
