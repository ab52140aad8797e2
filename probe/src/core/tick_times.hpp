// Times by a CPU's counter as times by the clock of all measurements: by instants at which both were read. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace howlate {

class TickTimes {
 public:
  // The clock, read between two readings of the counter.
  struct Reading {
    std::int64_t before = 0, ns = 0, after = 0;
    [[nodiscard]] std::int64_t apart() const { return after - before; }
  };
  // Whether it took hardly longer than the shortest so far.
  [[nodiscard]] bool is_good(const Reading& reading) const;
  // An instant in the middle. One that something disturbed is left out, unless the last one is old.
  void add(const Reading& reading);
  // An instant at which both were read: later ones after earlier ones. One within `apart_ns` of the last is ignored, or replaces it where
  // it is the second, because the uncertainty of both readings would distort the slope.
  void add(std::int64_t ticks, std::int64_t ns);

  // Between two instants; the first and the last line go on to all that is before and behind.
  struct Line {
    std::int64_t ticks = 0, ns = 0;  // it goes through here
    double slope = 1;
    std::int64_t from_ticks = INT64_MIN, to_ticks = INT64_MAX;  // it is good for these
    [[nodiscard]] bool has(std::int64_t at) const { return from_ticks <= at && at <= to_ticks; }
    [[nodiscard]] std::int64_t ns_of(std::int64_t at) const;
  };
  // As long as there are no two instants a tick is a nanosecond.
  [[nodiscard]] Line line_at(std::int64_t ticks) const;

  static constexpr std::int64_t apart_ns = 10'000'000, old_ns = 200'000'000;
  static constexpr std::size_t instants_max = 64;  // the last ones

 private:
  struct Instant {
    std::int64_t ticks = 0, ns = 0;
  };
  std::array<Instant, instants_max> instants_;
  std::size_t count_ = 0;
  std::int64_t shortest_ = INT64_MAX;  // ticks that a reading took
};

}  // namespace howlate
