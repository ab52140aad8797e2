// CPU time of others while a cell was measured: tasks that are neither this probe, nor its loads, nor the process that started it.
// docs/statistics.md ("Alone") defines what is counted, and gives the reasons for the limits.
//
// The machine is looked at twice: before the loads are started and after they have ended, so that the look itself neither competes
// with them nor falls into the measurement. The processes seen at both ends give names and times; processes that
// came and went between are in their parent's account; time in nobody's account remains in the sum of all CPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sys/cpus.hpp"
#include "sys/root.hpp"
#include "sys/tasks.hpp"

namespace howlate {

// The machine at one end of the window.
struct TasksSeen {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::vector<TaskStat> processes;
  std::optional<std::int64_t> run_ns;  // of all tasks on all CPUs (read_run_time_ns)
  std::vector<CpuTimes> cpus;
  std::int64_t own_ns = 0;  // of this process and its ended children
};
// Newest first at the beginning and oldest first at the end: then a child that ends during a look can be missed, but is never
// counted with what it used before the window.
TasksSeen look_at_tasks(const Root& root, Order order);

// Who belongs to the measurement. `alone`: whose own time is ours and whose other children are not (a shell that started us);
// `whole`: ours with all that is below them.
struct Kin {
  std::set<pid_t> whole;
  std::set<pid_t> alone;
};
// `self` with its descendants, and its ancestors: those that run our own program (the runner of a job) with all of theirs too.
Kin kin_of(const std::vector<TaskStat>& processes, pid_t self,
           const std::function<bool(pid_t)>& runs_our_program);

struct OtherTask {
  std::string name;
  pid_t pid = 0;
  std::int64_t cpu_ns = 0;
  int cpu = -1;         // where it ran last
  bool pinned = false;  // it may use no other CPU
  bool kernel = false;
  bool children = false;  // the time is that of children of this process that have ended
};

struct OthersOutcome {
  std::int64_t window_ns = 0;
  std::int64_t user_ns = 0;    // of tasks that were seen
  std::int64_t unseen_ns = 0;  // of tasks that nobody's account names, beyond what the counting may err
  std::int64_t kernel_ns = 0;  // of the kernel's own threads: they may work for the loads
  std::int64_t measuring_ns =
      0;  // the part of user_ns on the measuring CPUs, as far as it is known where a task ran
  bool kernel_visible =
      true;  // false: in a container, or where /proc hides others' tasks; then unseen_ns holds kernel threads
  bool precise = false;  // unseen_ns is from the scheduler's own sum, else from the clock tick's samples
  bool loaded = false;
  std::vector<OtherTask> tasks;  // the largest, user tasks before kernel threads

  [[nodiscard]] std::int64_t counted_ns() const;  // what makes a cell "not alone"
  [[nodiscard]] bool alone() const;
  [[nodiscard]] std::string sentence() const;  // "not alone: sh[4711] took 99 % of CPU 1"
  [[nodiscard]] std::string to_json(bool expected) const;

  static constexpr double share_max = 0.05;            // of one CPU, wherever
  static constexpr double measuring_share_max = 0.02;  // of the measuring CPUs, as a share of one
  static constexpr std::int64_t least_ns =
      30'000'000;  // three of /proc's steps: below it a share says nothing
};

// `place`: where a process runs, for those that are named. `loaded`: loads ran in the window.
OthersOutcome account_others(const TasksSeen& before, const TasksSeen& after, const Kin& kin,
                             const std::vector<int>& measuring, bool loaded,
                             const std::function<TaskPlace(pid_t)>& place);

}  // namespace howlate
