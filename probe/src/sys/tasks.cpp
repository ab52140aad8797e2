#include "sys/tasks.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "core/params.hpp"
#include "sys/clock.hpp"
#include "sys/cpus.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

namespace {

constexpr long long kernel_thread_flag = 0x00200000;  // PF_KTHREAD in a task's flags
constexpr long long policy_deadline = 6;              // SCHED_DEADLINE, which not every libc names

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

Root tree_of(const Root& root) {
  return Root(root.at("/"));
}

std::int64_t time_ns(const timeval& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

std::int64_t used_ns(int who) {
  struct rusage usage {};
  ::getrusage(who, &usage);
  return time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
}

}  // namespace

Result<TaskStat> parse_task_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return broken("not the stat of a task");
  const auto fields = parts_of(text.substr(close + 1), ' ');  // fields[0] is field 3, the state
  if (fields.size() < 39) return broken("not the whole stat of a task");
  long long numbers[39] = {};
  for (const std::size_t field : {1, 6, 7, 9, 11, 12, 13, 14, 19, 36, 37, 38}) {
    const auto number = to_integer(fields[field]);
    if (!number) return broken("not the stat of a task");
    numbers[field] = *number;
  }
  const auto pid = to_integer(trimmed(text.substr(0, open)));
  if (!pid) return broken("not the stat of a task");
  TaskStat task;
  task.pid = static_cast<pid_t>(*pid);
  task.parent = static_cast<pid_t>(numbers[1]);
  task.name = std::string(text.substr(open + 1, close - open - 1));
  task.kernel = (numbers[6] & kernel_thread_flag) != 0;
  task.cpu_ns = (numbers[11] + numbers[12]) * tick_ns();
  task.children_ns = (numbers[13] + numbers[14]) * tick_ns();
  task.start = numbers[19];
  task.cpu = static_cast<int>(numbers[36]);
  task.priority = numbers[37];
  task.policy = numbers[38];
  task.minor_faults = numbers[7];
  task.major_faults = numbers[9];
  return task;
}

std::vector<TaskStat> read_processes(const Root& root, Order order) {
  std::vector<TaskStat> tasks;
  std::vector<int> pids = tree_of(root).numbered("/proc", "");
  if (order == Order::newest_first) std::reverse(pids.begin(), pids.end());
  for (const int pid : pids) {
    const auto text = root.read_text(folder_of(pid) + "/stat");
    if (!text) continue;  // ended meanwhile
    if (auto task = parse_task_stat(*text)) tasks.push_back(std::move(*task));
  }
  return tasks;
}

TaskPlace read_task_place(const Root& root, pid_t pid) {
  TaskPlace place;
  std::int64_t longest_ns = -1;
  pid_t busiest = pid;
  for (const int thread : tree_of(root).numbered(folder_of(pid) + "/task", "")) {
    const auto text = root.read_text(folder_of(pid) + "/task/" + std::to_string(thread) + "/stat");
    const auto task = parse_task_stat(text.value_or(""));
    if (!task || task->cpu_ns <= longest_ns) continue;
    longest_ns = task->cpu_ns;
    busiest = thread;
    place.last_cpu = task->cpu;
  }
  const auto status =
      root.read_text(folder_of(pid) + "/task/" + std::to_string(busiest) + "/status").value_or("");
  for (const std::string& line : parts_of(status, '\n')) {
    if (!line.starts_with("Cpus_allowed_list:")) continue;
    const auto cpus = parse_cpu_list(trimmed(std::string_view(line).substr(18)));
    if (cpus && cpus->size() == 1) place.only_cpu = cpus->front();
  }
  return place;
}

std::optional<std::string> executable_of(const Root& root, pid_t pid) {
  const auto link = tree_of(root).read_link(folder_of(pid) + "/exe");
  return link ? std::optional(*link) : std::nullopt;
}

std::vector<RealTimeThread> read_real_time_threads(const Root& root) {
  const Root tree = tree_of(root);
  std::vector<RealTimeThread> threads;
  for (const int pid : tree.numbered("/proc", "")) {
    for (const int tid : tree.numbered(folder_of(pid) + "/task", "")) {
      const std::string folder = folder_of(pid) + "/task/" + std::to_string(tid);
      auto task = parse_task_stat(root.read_text(folder + "/stat").value_or(""));
      if (!task) continue;  // ended meanwhile
      if (task->policy != SCHED_FIFO && task->policy != SCHED_RR && task->policy != policy_deadline) continue;
      const auto fields = parts_of(trimmed(root.read_text(folder + "/schedstat").value_or("")), ' ');
      const bool counted = fields.size() == 3;  // RUN_NS WAIT_NS SLICES
      const std::int64_t run_ns = counted ? to_integer(fields[0]).value_or(-1) : -1;
      threads.push_back({std::move(*task), run_ns, counted ? to_integer(fields[2]).value_or(-1) : -1});
    }
  }
  return threads;
}

// "cpu1 0 0 0 0 0 0 RUN_NS WAIT_NS SLICES", a line for each CPU that is online.
std::optional<std::int64_t> parse_run_time_ns(std::string_view schedstat) {
  std::optional<std::int64_t> sum_ns;
  for (const std::string& line : parts_of(schedstat, '\n')) {
    if (!line.starts_with("cpu")) continue;
    const auto fields = parts_of(line, ' ');
    if (fields.size() < 10) return std::nullopt;
    const auto run_ns = to_integer(fields[7]);
    if (!run_ns) return std::nullopt;
    sum_ns = sum_ns.value_or(0) + *run_ns;
  }
  return sum_ns;
}

std::optional<std::int64_t> read_run_time_ns(const Root& root) {
  return parse_run_time_ns(root.read_text("/proc/schedstat").value_or(""));
}

std::int64_t own_run_time_ns() {
  return used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN);
}

std::int64_t thread_run_time_ns() {
  struct timespec used;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return ns_of(used);
}

}  // namespace howlate
