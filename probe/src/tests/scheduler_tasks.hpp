// The question `tasks` of the test scheduler: what a wake-up and a switch cost while many other tasks are there.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cell/cell.hpp"
#include "points/points.hpp"
#include "sys/thread.hpp"

namespace howlate {

// What two tasks and a crowd on one CPU share: a turn is passed by setting a word and waking whoever waits for it.
struct TaskMeeting {
  std::atomic<std::uint32_t> partner_go{0};
  std::atomic<std::uint32_t> leader_go{0};
  std::atomic<bool> partner_waits{false};
  std::atomic<bool> asked{false};         // the next task that runs writes down when it began to
  std::atomic<std::int64_t> first_ns{0};  // that

  // Every task but the leader calls this as soon as it gets the CPU.
  void first_reading();
};

// A point of the leader's: its readings around the waking call, before it waits, and the next task's first.
struct TaskTimes {
  std::int64_t before_ns = 0;
  std::int64_t woken_ns = 0;
  std::int64_t leaves_ns = 0;
  std::int64_t first_ns = 0;  // 0: nobody's
  bool was_asleep = false;    // the kernel says that it woke one
  bool ran_early = false;     // the woken task ran before the call was over

  [[nodiscard]] bool in_order() const {
    return was_asleep && !ran_early && before_ns <= woken_ns && woken_ns <= leaves_ns && leaves_ns < first_ns;
  }
};

// Tasks that are there beside the two: they sleep, or hand the CPU round by sched_yield().
class Crowd {
 public:
  explicit Crowd(TaskMeeting& meeting) : meeting_(meeting) {}
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() { end(); }

  // On return all of them sleep, or are about to.
  Status start(std::int64_t many, const ThreadSpec& spec, const Root& root);
  void run();   // all become runnable
  void rest();  // each goes to sleep as it gets the CPU
  void end();
  [[nodiscard]] std::int64_t turns() const { return turns_.load(std::memory_order_relaxed); }

 private:
  enum State : std::uint32_t { resting, running, over };
  void body();

  TaskMeeting& meeting_;
  std::atomic<std::uint32_t> state_{resting};
  std::atomic<std::int64_t> turns_{0};
  std::vector<RtThread> tasks_;
};

extern const std::span<const ColumnSpec> task_columns;

// `policy` is the leader's; a deadline one may be had only where there is one CPU.
Result<ExitCode> ask_about_tasks(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy);

}  // namespace howlate
