// The question `slice` of the test scheduler: how long a task runs before its equal takes over.
#pragma once

#include <cstdint>

#include "cell/cell.hpp"
#include "points/points.hpp"

namespace howlate {

// The runs of a task among its equals, from its readings of the clock and of a counter that the equals count up while they run. A run
// begins with the first reading after an equal had the CPU, and ends with the last one before an equal has it again.
class Runs {
 public:
  Runs(std::int64_t begin_ns, std::int64_t turns) : since_ns_(begin_ns), last_ns_(begin_ns), turns_(turns) {}

  // The next reading, with the counter. The caller reads the counter after the clock and, where it has changed, the clock once more: so
  // an equal that ran between the two readings lies before `now_ns`. True where an equal ran: a run is over and the next one begins.
  bool take(std::int64_t now_ns, std::int64_t turns) {
    const std::int64_t gap_ns = now_ns - last_ns_;
    const bool taken = turns != turns_;
    if (taken) {
      ran_ns_ = last_ns_ - since_ns_ - taking_ns_;
      stolen_ns_ = taking_ns_;
      away_ns_ = gap_ns;
      begin_ns_ = since_ns_;
      since_ns_ = now_ns;
      taking_ns_ = 0;
      turns_ = turns;
    } else if (gap_ns > least_ns) {
      taking_ns_ += gap_ns;
    }
    last_ns_ = now_ns;
    return taken;
  }
  [[nodiscard]] std::int64_t turns() const { return turns_; }
  // Of the run that is over: its begin, how long the task had the CPU, how long neither it nor an equal had it, and how long the equals
  // had it afterwards.
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] std::int64_t ran_ns() const { return ran_ns_; }
  [[nodiscard]] std::int64_t stolen_ns() const { return stolen_ns_; }
  [[nodiscard]] std::int64_t away_ns() const { return away_ns_; }

  static constexpr std::int64_t least_ns = 20'000;  // a shorter gap is an interrupt's, and part of the run

 private:
  std::int64_t since_ns_, last_ns_, turns_;
  std::int64_t taking_ns_ = 0;
  std::int64_t begin_ns_ = 0, ran_ns_ = 0, stolen_ns_ = 0, away_ns_ = 0;
};

// How many tasks may compute beside the measuring one (`slice`, `sleeper`).
inline constexpr std::int64_t computing_tasks_max = 64;
Status check_computing_tasks(const Params& in);

// `policy` is that of all the tasks.
Result<ExitCode> ask_about_slices(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy);

}  // namespace howlate
