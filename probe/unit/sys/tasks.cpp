// Tasks from the kernel's own files, below a fixture's root.
#include "sys/tasks.hpp"

#include <doctest/doctest.h>

#include "fixture.hpp"
#include "sys/cpus.hpp"

namespace howlate {
namespace {

std::string stat_line(int pid, const std::string& name, int parent, long long flags, int user, int system,
                      int child_user, int child_system, int cpu, const std::string& policy = "0 0") {
  const auto text = [](long long number) { return std::to_string(number) + " "; };
  std::string line = text(pid) + "(" + name + ") S " + text(parent) + "1 1 0 -1 " + text(flags) + "0 0 0 0 ";
  line += text(user) + text(system) + text(child_user) + text(child_system) + "20 0 1 0 777 0 0 ";
  for (int field = 25; field < 39; ++field) line += "0 ";
  return line + text(cpu) + policy + " 0 0 0 0 0 0 0 0 0 0 0\n";
}

TEST_CASE("a task's line is read by its last parenthesis: a name may hold anything") {
  const auto task = parse_task_stat(stat_line(42, "a) S 1 (b", 7, 0x00200000, 3, 4, 5, 6, 2));
  REQUIRE(task.ok());
  CHECK(task->pid == 42);
  CHECK(task->parent == 7);
  CHECK(task->name == "a) S 1 (b");
  CHECK(task->kernel);
  CHECK(task->cpu_ns == 7 * tick_ns());
  CHECK(task->children_ns == 11 * tick_ns());
  CHECK(task->start == 777);
  CHECK(task->cpu == 2);
}

TEST_CASE("what is no task's line is refused") {
  for (const char* text : {"", "42", "42 (sh", "42 (sh) S 1 2 3", "x (sh) S"})
    CHECK_FALSE(parse_task_stat(text).ok());
}

TEST_CASE(
    "a process runs where its busiest thread runs, and is pinned if that thread may use one CPU alone") {
  const Fixture fixture;
  fixture.write("/proc/42/task/42/stat", stat_line(42, "app", 1, 0, 1, 0, 0, 0, 0));
  fixture.write("/proc/42/task/43/stat", stat_line(43, "app", 1, 0, 90, 0, 0, 0, 3));
  fixture.write("/proc/42/task/42/status", "Cpus_allowed_list:\t0-3\n");
  fixture.write("/proc/42/task/43/status", "Name:\tapp\nCpus_allowed_list:\t3\n");
  CHECK(read_task_place(fixture.root(), 42).last_cpu == 3);
  CHECK(read_task_place(fixture.root(), 42).only_cpu == 3);
  CHECK(read_task_place(fixture.root(), 41).last_cpu == -1);
}

TEST_CASE("processes are read in the order that is asked for") {
  const Fixture fixture;
  for (const int pid : {7, 100, 12})
    fixture.write("/proc/" + std::to_string(pid) + "/stat", stat_line(pid, "x", 1, 0, 0, 0, 0, 0, 0));
  fixture.write("/proc/101/stat", "gone");
  const auto pids = [&](Order order) {
    std::vector<pid_t> found;
    for (const TaskStat& task : read_processes(fixture.root(), order)) found.push_back(task.pid);
    return found;
  };
  CHECK(pids(Order::oldest_first) == std::vector<pid_t>{7, 12, 100});
  CHECK(pids(Order::newest_first) == std::vector<pid_t>{100, 12, 7});
}

TEST_CASE("real-time threads are those of policy FIFO, RR and DEADLINE, with how often they ran") {
  const Fixture fixture;
  const auto thread = [&](int pid, const std::string& policy) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
    fixture.write(folder + "/stat", stat_line(pid, "a b", 1, 0, 0, 0, 0, 0, 0, policy));
    fixture.write(folder + "/schedstat", "1500 7 3\n");
  };
  thread(5, "0 0");    // OTHER
  thread(16, "99 1");  // FIFO
  thread(17, "0 6");   // DEADLINE
  fixture.write("/proc/18/task/18/stat", stat_line(18, "c", 1, 0, 0, 0, 0, 0, 0, "1 2"));
  const auto threads = read_real_time_threads(fixture.root());
  REQUIRE(threads.size() == 3);
  CHECK(threads[0].task.pid == 16);
  CHECK(threads[0].task.name == "a b");
  CHECK(threads[0].task.priority == 99);
  CHECK(threads[0].run_ns == 1500);
  CHECK(threads[0].slices == 3);
  CHECK(threads[1].task.policy == 6);
  CHECK(threads[2].slices == -1);
}

TEST_CASE("the scheduler's sum of run times is added up over the CPUs, and is not there without its file") {
  CHECK(parse_run_time_ns("version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1000 5 9\ndomain0 3 1 2\n"
                          "cpu1 0 0 0 0 0 0 234 5 9\n") == 1234);
  CHECK_FALSE(parse_run_time_ns("").has_value());
  CHECK_FALSE(parse_run_time_ns("cpu0 0 0 0\n").has_value());
}

}  // namespace
}  // namespace howlate
