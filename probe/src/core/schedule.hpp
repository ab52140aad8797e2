// The release schedule: the instant at which activation n is due. Pure integers; nothing here reads a clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace howlate {

// Release n is due at t0 + n * period, or, with dither, at t0 plus the sum of n gaps period * U[0.5, 1.5)
// drawn from `seed` (splitmix64, so that any reader can draw them again), or, with windows, with
// `window_off_ns` left out after each `window_on_ns` of schedule (a spinning task works half a second in each
// second). An instant beyond 64 bits is INT64_MAX, which is never due.
struct ScheduleSpec {
  std::int64_t t0_ns = 0;      // CLOCK_MONOTONIC
  std::int64_t period_ns = 0;  // > 0; with dither > 1
  bool dither = false;
  std::uint64_t seed = 0;
  std::int64_t window_on_ns = 0;  // 0 = no windows
  std::int64_t window_off_ns = 0;
};

class Schedule {
 public:
  Schedule() = default;
  explicit Schedule(const ScheduleSpec& spec)
      : spec_(spec),
        release_ns_(spec.t0_ns),
        window_end_ns_(later(spec.t0_ns, spec.window_on_ns)),
        state_(spec.seed),
        even_(!spec.dither && spec.window_on_ns == 0),
        steady_until_ns_(even_ ? INT64_MAX - spec.period_ns : INT64_MIN) {}

  // The oldest release that advance() has not passed.
  [[nodiscard]] std::int64_t index() const { return index_; }
  [[nodiscard]] std::int64_t release_ns() const { return release_ns_; }  // CLOCK_MONOTONIC
  [[nodiscard]] std::int64_t offset_ns() const { return release_ns_ - spec_.t0_ns; }
  [[nodiscard]] const ScheduleSpec& spec() const { return spec_; }

  // Advances to the next release and returns it.
  std::int64_t advance() {
    ++index_;
    if (release_ns_ <= steady_until_ns_) [[likely]]
      return release_ns_ += spec_.period_ns;
    advance_unevenly();
    return release_ns_;
  }

  // Passes every release at or before `instant_ns` and returns how many there were.
  std::int64_t pass(std::int64_t instant_ns) {
    if (instant_ns == INT64_MAX) --instant_ns;
    const std::int64_t first = index_;
    if (even_ && release_ns_ <= instant_ns) {
      const std::int64_t all_but_last = (instant_ns - release_ns_) / spec_.period_ns;
      index_ += all_but_last;
      release_ns_ += all_but_last * spec_.period_ns;
    }
    while (release_ns_ <= instant_ns) advance();
    return index_ - first;
  }

  // How many releases of the whole schedule are due at or before `instant_ns`: from the start, whatever was
  // passed.
  [[nodiscard]] std::int64_t due_by(std::int64_t instant_ns) const {
    if (instant_ns == INT64_MAX) --instant_ns;
    if (instant_ns < spec_.t0_ns) return 0;
    if (even_) return (instant_ns - spec_.t0_ns) / spec_.period_ns + 1;
    Schedule walk(spec_);
    while (walk.release_ns() <= instant_ns) walk.advance();
    return walk.index();
  }

 private:
  [[nodiscard]] static std::int64_t later(std::int64_t instant_ns, std::int64_t by_ns) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(instant_ns, by_ns, &sum) ? INT64_MAX : sum;
  }

  [[nodiscard]] std::int64_t drawn_gap_ns() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31U;
    // Half the period plus a part of it in steps of 2^-32: floor(period * fraction / 2^32), in two halves so
    // that it is exact in 64 bits.
    const auto period = static_cast<std::uint64_t>(spec_.period_ns);
    const std::uint64_t fraction = mixed >> 32U;
    const std::uint64_t part = (period >> 32U) * fraction + (((period & 0xffffffffU) * fraction) >> 32U);
    return spec_.period_ns / 2 + static_cast<std::int64_t>(part);
  }

  void advance_unevenly() {
    release_ns_ = later(release_ns_, spec_.dither ? drawn_gap_ns() : spec_.period_ns);
    if (spec_.window_on_ns == 0) return;
    while (release_ns_ >= window_end_ns_ && release_ns_ != INT64_MAX) {
      release_ns_ = later(release_ns_, spec_.window_off_ns);
      window_end_ns_ = later(window_end_ns_, later(spec_.window_on_ns, spec_.window_off_ns));
    }
  }

  ScheduleSpec spec_;
  std::int64_t index_ = 0;
  std::int64_t release_ns_ = 0;
  std::int64_t window_end_ns_ = 0;
  std::uint64_t state_ = 0;
  bool even_ = true;  // neither dither nor windows
  // From a release up to this one a period leads to the next, within 64 bits; from no release on an uneven schedule.
  std::int64_t steady_until_ns_ = INT64_MIN;
};

// The schedule of a warm-up of `warm_up_ns`: as many whole periods before t0 as fit into it, on the same grid, without dither and windows.
[[nodiscard]] inline ScheduleSpec warm_up_schedule(const ScheduleSpec& spec, std::int64_t warm_up_ns) {
  return {.t0_ns = spec.t0_ns - warm_up_ns / spec.period_ns * spec.period_ns, .period_ns = spec.period_ns};
}

// The first instant at or after `instant_ns` that is `clear_ns` away from every release, before and after it; between releases that
// leave less room, the middle between two. Passes the schedule, so later calls are for later instants.
inline std::int64_t clear_of_releases(Schedule& schedule, std::int64_t instant_ns, std::int64_t clear_ns) {
  schedule.pass(instant_ns - clear_ns);
  for (;;) {
    const std::int64_t release_ns = schedule.release_ns();
    if (release_ns >= instant_ns + clear_ns) return instant_ns;
    Schedule after = schedule;
    const std::int64_t clear_after_ns = release_ns + std::min(clear_ns, (after.advance() - release_ns) / 2);
    if (clear_after_ns >= instant_ns) return clear_after_ns;
    schedule.advance();
  }
}

}  // namespace howlate
