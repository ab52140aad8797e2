// The release schedule: which instant activation n is due at. Pure integers; nothing here reads a clock.
#pragma once

#include <cstdint>

namespace howlate {

// Release n is due at t0 + n * period, or, with dither, at t0 plus the sum of n gaps period * U[0.5, 1.5) drawn from `seed`
// (splitmix64, so that any reader can draw them again), or, with windows, with `window_off_ns` left out after each
// `window_on_ns` of schedule (a spinning task works half a second in each second).
struct ScheduleSpec {
  std::int64_t t0_ns = 0;      // CLOCK_MONOTONIC
  std::int64_t period_ns = 0;  // > 0
  bool dither = false;
  std::uint64_t seed = 0;
  std::int64_t window_on_ns = 0;  // 0 = no windows
  std::int64_t window_off_ns = 0;
};

class Schedule {
 public:
  Schedule() = default;
  explicit Schedule(const ScheduleSpec& spec)
      : spec_(spec), release_ns_(spec.t0_ns), window_end_ns_(spec.t0_ns + spec.window_on_ns), state_(spec.seed) {}

  // The oldest release that has not been passed over with advance().
  [[nodiscard]] std::int64_t index() const { return index_; }
  [[nodiscard]] std::int64_t release_ns() const { return release_ns_; }  // CLOCK_MONOTONIC
  [[nodiscard]] std::int64_t offset_ns() const { return release_ns_ - spec_.t0_ns; }
  [[nodiscard]] const ScheduleSpec& spec() const { return spec_; }

  void advance() {
    ++index_;
    release_ns_ += gap_ns();
    if (spec_.window_on_ns != 0 && release_ns_ >= window_end_ns_) {
      release_ns_ += spec_.window_off_ns;
      window_end_ns_ += spec_.window_on_ns + spec_.window_off_ns;
    }
  }

 private:
  [[nodiscard]] std::int64_t gap_ns() {
    if (!spec_.dither) return spec_.period_ns;
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31U;
    // period/2 plus a part of the period in steps of 2^-32: exact in 64 bits up to a period of 2^31 ns, else scaled
    __extension__ using Wide = unsigned __int128;
    const auto part = static_cast<std::int64_t>(
        (static_cast<Wide>(static_cast<std::uint64_t>(spec_.period_ns)) * (mixed >> 32U)) >> 32U);
    return spec_.period_ns / 2 + part;
  }

  ScheduleSpec spec_;
  std::int64_t index_ = 0;
  std::int64_t release_ns_ = 0;
  std::int64_t window_end_ns_ = 0;
  std::uint64_t state_ = 0;
};

}  // namespace howlate
