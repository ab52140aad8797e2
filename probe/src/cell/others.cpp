#include "cell/others.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/json.hpp"
#include "sys/clock.hpp"

namespace howlate {

namespace {

constexpr std::size_t most_tasks = 10;  // of each kind that are stored
constexpr std::size_t most_named = 3;   // in the sentence

using ByPid = std::map<pid_t, const TaskStat*>;

ByPid by_pid(const std::vector<TaskStat>& processes) {
  ByPid found;
  for (const TaskStat& task : processes) found[task.pid] = &task;
  return found;
}

// The same process in the other list; nothing if its number was given to another one.
const TaskStat* same_in(const ByPid& others, const TaskStat& task) {
  const auto found = others.find(task.pid);
  return found != others.end() && found->second->start == task.start ? found->second : nullptr;
}

// CPU time that ended processes had used before the window began, by the process whose children's account now holds it.
std::map<pid_t, std::int64_t> used_before_by_gone(const ByPid& before, const ByPid& after) {
  std::map<pid_t, std::int64_t> used;
  for (const auto& [pid, task] : before) {
    if (same_in(after, *task) != nullptr) continue;
    auto heir = before.find(task->parent);
    while (heir != before.end() && same_in(after, *heir->second) == nullptr)
      heir = before.find(heir->second->parent);
    if (heir != before.end()) used[heir->first] += task->cpu_ns + task->children_ns;
  }
  return used;
}

struct Used {
  std::int64_t own_ns = 0;
  std::int64_t children_ns = 0;
};

// In the window, of each process that is there at its end.
std::map<pid_t, Used> used_in_window(const ByPid& before, const ByPid& after) {
  const auto gone = used_before_by_gone(before, after);
  std::map<pid_t, Used> all;
  for (const auto& [pid, task] : after) {
    Used used{task->cpu_ns, task->children_ns};
    if (const TaskStat* const then = same_in(before, *task)) {
      const auto inherited = gone.find(pid);
      used.own_ns -= then->cpu_ns;
      used.children_ns -= then->children_ns + (inherited == gone.end() ? 0 : inherited->second);
    }
    all[pid] = {std::max<std::int64_t>(used.own_ns, 0), std::max<std::int64_t>(used.children_ns, 0)};
  }
  return all;
}

// How busy each CPU was in the window. A CPU that came or went meanwhile is left out.
std::vector<CpuTimes> cpus_in_window(const TasksSeen& before, const TasksSeen& after) {
  std::vector<CpuTimes> all;
  for (const CpuTimes& now : after.cpus) {
    const auto then = std::find_if(before.cpus.begin(), before.cpus.end(),
                                   [&](const CpuTimes& one) { return one.cpu == now.cpu; });
    if (then == before.cpus.end()) continue;
    all.push_back({now.cpu, now.busy - then->busy, now.tasks - then->tasks, now.steal - then->steal,
                   now.idle - then->idle});
  }
  return all;
}

// What the clock tick saw tasks do on the CPUs that do not measure, beyond three standard deviations of such sampling. A tick
// that always meets a periodic task, or never, says nothing about it: hence not on the measuring CPUs.
std::int64_t ticked_ns(const std::vector<CpuTimes>& cpus, const std::vector<int>& measuring) {
  double ticks = 0;
  double variance = 0;
  for (const CpuTimes& one : cpus) {
    if (std::find(measuring.begin(), measuring.end(), one.cpu) != measuring.end()) continue;
    const auto all = static_cast<double>(one.busy + one.steal + one.idle);
    const auto some = static_cast<double>(one.tasks);
    if (all <= 0) continue;
    ticks += some;
    variance += some * std::max(0.0, 1 - some / all);
  }
  return static_cast<std::int64_t>((ticks - 3 * std::sqrt(variance)) * static_cast<double>(tick_ns()));
}

// What the hypervisor and interrupts took of the CPUs. The scheduler's own sum counts it to the task that they kept from running,
// while a kernel that accounts for it leaves it out of the task's own time.
std::int64_t taken_from_tasks_ns(const std::vector<CpuTimes>& cpus) {
  std::int64_t ticks = 0;
  for (const CpuTimes& one : cpus)
    ticks += std::max<std::int64_t>(one.steal, 0) + std::max<std::int64_t>(one.busy - one.tasks, 0);
  return ticks * tick_ns();
}

void keep_largest(std::vector<OtherTask>& tasks) {
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const OtherTask& one, const OtherTask& two) { return one.cpu_ns > two.cpu_ns; });
  if (tasks.size() > most_tasks) tasks.resize(most_tasks);
}

std::int64_t sum_ns(const std::vector<OtherTask>& tasks) {
  std::int64_t sum = 0;
  for (const OtherTask& task : tasks) sum += task.cpu_ns;
  return sum;
}

// Whose the time is that the processes' accounts hold.
struct Named {
  std::int64_t ours_ns = 0;
  std::vector<OtherTask> user, kernel;
};

Named name_tasks(const TasksSeen& before, const TasksSeen& after, const Kin& kin) {
  const ByPid then = by_pid(before.processes);
  const ByPid now = by_pid(after.processes);
  const pid_t self = ::getpid();
  Named named;
  named.ours_ns = after.own_ns - before.own_ns;
  for (const auto& [pid, used] : used_in_window(then, now)) {
    const TaskStat& task = *now.at(pid);
    if (pid == self) continue;
    if (kin.whole.contains(pid)) {
      named.ours_ns += used.own_ns + used.children_ns;
      continue;
    }
    const bool own_is_ours = !task.kernel && kin.alone.contains(pid);
    if (own_is_ours) named.ours_ns += used.own_ns;
    if (!own_is_ours && used.own_ns != 0)
      (task.kernel ? named.kernel : named.user)
          .push_back({task.name, pid, used.own_ns, task.cpu, false, task.kernel, false});
    if (!task.kernel && used.children_ns != 0)
      named.user.push_back({task.name, pid, used.children_ns, -1, false, false, true});
  }
  return named;
}

// Says of each task where it ran. The time of those that ran on a measuring CPU.
std::int64_t put_in_place(std::vector<OtherTask>& tasks, const std::vector<int>& measuring,
                          const std::function<TaskPlace(pid_t)>& place) {
  std::int64_t measuring_ns = 0;
  for (OtherTask& task : tasks) {
    if (task.children) continue;
    const TaskPlace where = place(task.pid);
    if (where.last_cpu >= 0) task.cpu = where.last_cpu;
    if (where.only_cpu >= 0) task.cpu = where.only_cpu;
    task.pinned = where.only_cpu >= 0;
    if (std::find(measuring.begin(), measuring.end(), task.cpu) != measuring.end())
      measuring_ns += task.cpu_ns;
  }
  return measuring_ns;
}

// CPU time of all tasks without the part that has a known owner, as far as it exceeds the error of the counting.
std::int64_t left_over_ns(const TasksSeen& before, const TasksSeen& after, std::int64_t known_ns,
                          const std::vector<int>& measuring) {
  const std::vector<CpuTimes> cpus = cpus_in_window(before, after);
  const std::int64_t all_ns = before.run_ns && after.run_ns
                                  ? *after.run_ns - *before.run_ns - taken_from_tasks_ns(cpus)
                                  : ticked_ns(cpus, measuring);
  // The times of each process and each CPU are known in steps of a tick, rounded at both ends.
  const auto counted = static_cast<double>(after.processes.size() + cpus.size());
  const auto rounding_ns =
      static_cast<std::int64_t>(static_cast<double>(tick_ns()) * (2 + 2 * std::sqrt(counted)));
  return std::max<std::int64_t>(all_ns - known_ns - rounding_ns, 0);
}

std::string percent(std::int64_t part_ns, std::int64_t whole_ns) {
  const double share =
      whole_ns <= 0 ? 0 : 100.0 * static_cast<double>(part_ns) / static_cast<double>(whole_ns);
  char text[32];
  std::snprintf(text, sizeof text, share < 10 ? "%.1f %%" : "%.0f %%", share);
  return text;
}

std::string described(const OtherTask& task, std::int64_t window_ns) {
  const std::string who = task.name + "[" + std::to_string(task.pid) + "]";
  const std::string share = percent(task.cpu_ns, window_ns);
  if (task.children) return "children of " + who + " that ended meanwhile took " + share + " of a CPU";
  if (task.cpu < 0) return who + " took " + share + " of a CPU";
  const std::string cpu = "CPU " + std::to_string(task.cpu);
  if (task.pinned) return who + " took " + share + " of " + cpu;
  return who + " took " + share + " of a CPU (last on " + cpu + ")";
}

}  // namespace

TasksSeen look_at_tasks(const Root& root, Order order) {
  TasksSeen seen;
  seen.time_ns = monotonic_now_ns();
  seen.own_ns = own_run_time_ns();
  seen.run_ns = read_run_time_ns(root);
  seen.cpus = read_cpu_times(root);
  seen.processes = read_processes(root, order);
  return seen;
}

Kin kin_of(const std::vector<TaskStat>& processes, pid_t self,
           const std::function<bool(pid_t)>& runs_our_program) {
  const ByPid all = by_pid(processes);
  Kin kin;
  kin.whole.insert(self);
  const auto own = all.find(self);
  for (auto at = own == all.end() ? own : all.find(own->second->parent); at != all.end();
       at = all.find(at->second->parent)) {
    if (kin.whole.contains(at->first) || kin.alone.contains(at->first)) break;
    (runs_our_program(at->first) ? kin.whole : kin.alone).insert(at->first);
  }
  for (bool grown = true; grown;) {  // a child can have a smaller number than its parent
    grown = false;
    for (const auto& [pid, task] : all)
      if (!kin.alone.contains(pid) && kin.whole.contains(task->parent))
        grown = kin.whole.insert(pid).second || grown;
  }
  return kin;
}

OthersOutcome account_others(const TasksSeen& before, const TasksSeen& after, const Kin& kin,
                             const std::vector<int>& measuring, bool loaded,
                             const std::function<TaskPlace(pid_t)>& place) {
  OthersOutcome found;
  found.window_ns = after.time_ns - before.time_ns;
  found.loaded = loaded;
  found.precise = before.run_ns && after.run_ns;
  found.kernel_visible = std::any_of(after.processes.begin(), after.processes.end(),
                                     [](const TaskStat& task) { return task.kernel; });
  Named named = name_tasks(before, after, kin);
  found.user_ns = sum_ns(named.user);
  found.kernel_ns = sum_ns(named.kernel);
  keep_largest(named.user);
  keep_largest(named.kernel);
  found.measuring_ns = put_in_place(named.user, measuring, place);
  const std::int64_t known_ns = named.ours_ns + found.kernel_ns + found.user_ns;
  if (found.precise || !loaded) found.unseen_ns = left_over_ns(before, after, known_ns, measuring);
  found.tasks = std::move(named.user);
  found.tasks.insert(found.tasks.end(), named.kernel.begin(), named.kernel.end());
  return found;
}

std::int64_t OthersOutcome::counted_ns() const {
  // If kernel threads cannot be seen, unseen time may be theirs, and they may have worked for the load.
  return kernel_visible || !loaded ? user_ns + unseen_ns : user_ns;
}

bool OthersOutcome::alone() const {
  const auto share_ns = [&](double share) {
    return std::max(least_ns, static_cast<std::int64_t>(share * static_cast<double>(window_ns)));
  };
  return counted_ns() <= share_ns(share_max) && measuring_ns <= share_ns(measuring_share_max);
}

std::string OthersOutcome::sentence() const {
  std::string text;
  std::size_t named = 0;
  std::int64_t rest_ns = user_ns;
  for (const OtherTask& task : tasks) {
    if (task.kernel || named == most_named) break;
    if (named != 0 && task.cpu_ns < least_ns) break;
    text += (named++ == 0 ? "" : ", ") + described(task, window_ns);
    rest_ns -= task.cpu_ns;
  }
  if (rest_ns >= least_ns)
    text += (text.empty() ? "" : ", ") + ("other tasks " + percent(rest_ns, window_ns));
  if (unseen_ns >= least_ns && (kernel_visible || !loaded))
    text += (text.empty() ? "" : ", ") +
            ("tasks that /proc no longer shows took " + percent(unseen_ns, window_ns) + " of a CPU");
  return "not alone: " + text;
}

std::string OthersOutcome::to_json(bool expected) const {
  JsonWriter json;
  json.begin_object().member("window_ns", window_ns).member("user_ns", user_ns);
  json.member("measuring_ns", measuring_ns).member("unseen_ns", unseen_ns).member("kernel_ns", kernel_ns);
  json.member("kernel_visible", kernel_visible).member("precise", precise);
  json.member("share_max", share_max).member("measuring_share_max", measuring_share_max);
  json.member("alone", alone()).member("expected", expected).key("tasks").begin_array();
  for (const OtherTask& task : tasks) {
    json.begin_object().member("name", task.name).member("pid", task.pid).member("cpu_ns", task.cpu_ns);
    json.member("cpu", task.cpu).member("pinned", task.pinned).member("kernel", task.kernel);
    json.member("children", task.children).end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace howlate
