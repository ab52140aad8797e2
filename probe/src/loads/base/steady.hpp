// Whether a load's rate is known well enough: batch means over windows that grow with the time that was watched. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace howlate {

// What a load did in windows that follow one another. Loads work in bursts (a task's turn among hundreds, a cycle of 10 ms, the
// writes between two fsyncs), and a burst that is longer than a window makes neighbours alike or opposite. So when there are
// `windows_most`, each two become one: the windows outgrow the bursts, and only then does their scatter say how well their mean
// is known (Law and Kelton's batch means).
class SteadyRate {
 public:
  static constexpr std::size_t windows_least = 8;
  static constexpr std::size_t windows_most = 2 * windows_least;
  // The standard error of the mean that is good enough, as a part of the mean: a tenth leaves two deviations far inside the factor
  // of 2 that the rate is to judge.
  static constexpr double error_most = 0.1;

  // Totals so far, at this time. The first one begins the first window.
  void add(std::int64_t time_ns, std::int64_t total);
  // The mean rate's standard error as a part of the mean; infinite with too few windows or nothing done.
  [[nodiscard]] double error() const;
  [[nodiscard]] double per_second() const;
  [[nodiscard]] bool begun() const { return windows() >= windows_least; }
  // Checked at every fourth window only: a rule that is checked often enough is met by chance.
  [[nodiscard]] bool known() const { return windows() % 4 == 0 && error() <= error_most; }

 private:
  struct Point {
    std::int64_t time_ns, total;
  };
  [[nodiscard]] std::size_t windows() const { return count_ == 0 ? 0 : count_ - 1; }

  std::array<Point, windows_most + 1> points_{};
  std::size_t count_ = 0;
};

}  // namespace howlate
