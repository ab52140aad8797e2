// The tasks of the machine according to /proc: their identity, and the CPU time that they have used.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// One line of /proc/PID/stat, or of a thread's. Times are the kernel's, in steps of tick_ns().
struct TaskStat {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;
  bool kernel = false;  // a thread of the kernel's own
  std::int64_t cpu_ns = 0;
  std::int64_t children_ns = 0;  // of children that have ended and were waited for
  long long start = 0;           // when it began, in ticks since boot: with the pid, who it is
  int cpu = -1;                  // the CPU on which it ran last
  long long priority = 0;
  long long policy = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
};

// The name stands in parentheses and may hold any character, so fields count from the last ')'.
Result<TaskStat> parse_task_stat(std::string_view text);

// All processes that can be seen; a process's times are the sum over its threads, also those that have ended. They are read one
// after the other, while they go on: in which order decides what becomes of a child that ends meanwhile. Its time is then in its
// own line and its parent's (newest first: the child is read before the parent), or in neither (oldest first).
enum class Order { oldest_first, newest_first };
std::vector<TaskStat> read_processes(const Root& root, Order order);

// Where a process runs: the CPU of the thread that has run longest, and the only CPU that it may use, if there is only one.
struct TaskPlace {
  int last_cpu = -1;
  int only_cpu = -1;
};
TaskPlace read_task_place(const Root& root, pid_t pid);

// The program that a process executes, as the kernel names its file; nothing where that may not be read.
std::optional<std::string> executable_of(const Root& root, pid_t pid);

// A thread that the kernel serves before all ordinary ones, and how often and how long it has run (/proc/PID/task/TID/schedstat).
struct RealTimeThread {
  TaskStat task;
  std::int64_t run_ns = -1;  // -1: the kernel does not count it
  long long slices = -1;
};
// All of policy FIFO, RR or DEADLINE; the kernel's stop threads say FIFO 99.
std::vector<RealTimeThread> read_real_time_threads(const Root& root);

// CPU time of all tasks on all CPUs since boot, to the nanosecond, as the scheduler counts it at each switch
// (/proc/schedstat); nothing where the kernel does not count it. The idle tasks are left out.
std::optional<std::int64_t> parse_run_time_ns(std::string_view schedstat);
std::optional<std::int64_t> read_run_time_ns(const Root& root);

// CPU time that this process and the children that it has waited for have used.
std::int64_t own_run_time_ns();
// CPU time that the calling thread has used.
std::int64_t thread_run_time_ns();

}  // namespace howlate
