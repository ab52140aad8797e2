// What others took of the CPUs, from two looks at the tasks.
#include "cell/others.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "sys/clock.hpp"

namespace howlate {
namespace {

const pid_t self = ::getpid();
const pid_t shell = self + 1;  // which started us
const pid_t hog = self + 2;
const pid_t kworker = self + 3;
const pid_t load = self + 4;

TaskStat task(pid_t pid, pid_t parent, const char* name, std::int64_t cpu_ns, std::int64_t children_ns = 0,
              bool kernel = false) {
  TaskStat made;
  made.pid = pid;
  made.parent = parent;
  made.name = name;
  made.cpu_ns = cpu_ns;
  made.children_ns = children_ns;
  made.kernel = kernel;
  made.cpu = 0;
  return made;
}

// Ten seconds: `before` as it stands, `after` with what was used meanwhile.
struct Window {
  TasksSeen before, after;
  Kin kin;
  bool loaded = false;

  Window() {
    before.processes = {task(self, shell, "howlate-probe", 0), task(shell, 1, "bash", 5 * second_ns),
                        task(kworker, 2, "kworker/0:1", second_ns, 0, true)};
    after = before;
    after.time_ns = 10 * second_ns;
  }
  OthersOutcome account() {
    kin = kin_of(after.processes, self, [](pid_t) { return false; });
    return account_others(before, after, kin, {1}, loaded, [](pid_t pid) {
      return pid == hog ? TaskPlace{1, 1} : TaskPlace{};
    });
  }
};

TEST_CASE("a machine on which nobody else runs is alone, whatever the probe, its shell and the kernel use") {
  Window window;
  window.after.own_ns = 9 * second_ns;
  window.after.processes[1].cpu_ns += second_ns;
  window.after.processes[2].cpu_ns += 4 * second_ns;
  const OthersOutcome others = window.account();
  CHECK(others.alone());
  CHECK(others.user_ns == 0);
  CHECK(others.kernel_ns == 4 * second_ns);
}

TEST_CASE("a task on the measuring CPU is named with the CPU that it took") {
  Window window;
  window.before.processes.push_back(task(hog, shell, "sh", 3 * second_ns));
  window.after.processes.push_back(task(hog, shell, "sh", 3 * second_ns + 9'900'000'000));
  const OthersOutcome others = window.account();
  CHECK_FALSE(others.alone());
  CHECK(others.measuring_ns == 9'900'000'000);
  CHECK(others.sentence() == "not alone: sh[" + std::to_string(hog) + "] took 99 % of CPU 1");
}

TEST_CASE("the limit is lower on the measuring CPUs than elsewhere") {
  Window window;
  window.after.processes.push_back(task(hog, shell, "sh", 300'000'000));  // 3 %
  CHECK_FALSE(window.account().alone());
  window.after.processes.back().pid = load;  // its place is not a measuring CPU
  CHECK(window.account().alone());
  window.after.processes.back().cpu_ns = 600'000'000;
  CHECK_FALSE(window.account().alone());
}

TEST_CASE(
    "tasks that begin and end meanwhile show in their parent's account, without what they used before") {
  Window window;
  window.before.processes.push_back(task(hog, shell, "cc1plus", 7 * second_ns));
  window.after.processes[1].children_ns += 7 * second_ns + 2 * second_ns;
  const OthersOutcome others = window.account();
  CHECK(others.user_ns == 2 * second_ns);
  CHECK(others.sentence() ==
        "not alone: children of bash[" + std::to_string(shell) + "] that ended meanwhile took 20 % of a CPU");
}

TEST_CASE("a number that was given to another process is not taken for the same one") {
  Window window;
  window.before.processes.push_back(task(hog, shell, "old", 8 * second_ns));
  window.after.processes.push_back(task(hog, shell, "new", 2 * second_ns));
  window.after.processes.back().start = 99;
  CHECK(window.account().user_ns == 2 * second_ns);
}

TEST_CASE("time that no process's account holds is others', unless it is within the rounding") {
  Window window;
  window.before.run_ns = 0;
  window.after.run_ns = 3 * second_ns;
  window.after.own_ns = second_ns;
  OthersOutcome others = window.account();
  CHECK(others.precise);
  CHECK(others.unseen_ns > 1'900'000'000);
  CHECK_FALSE(others.alone());
  CHECK(others.sentence() == "not alone: tasks that /proc no longer shows took 19 % of a CPU");
  window.after.run_ns = second_ns + 40'000'000;
  CHECK(window.account().unseen_ns == 0);
}

// Two CPUs in a guest, under a load that keeps both busy: the load's process is charged with what the hypervisor and the interrupts
// left it, and the scheduler's sum holds the whole of both.
TEST_CASE("what the hypervisor and interrupts took from tasks is not taken for tasks that are gone") {
  Window window;
  window.loaded = true;
  window.before.run_ns = 0;
  window.after.run_ns = 20 * second_ns;
  window.before.cpus = parse_cpu_times(
      "cpu  1000 0 200 9000 0 10 20 30 0 0\n"
      "cpu0 500 0 100 4500 0 5 10 15 0 0\ncpu1 500 0 100 4500 0 5 10 15 0 0\n");
  window.after.cpus = parse_cpu_times(  // of each 10 s: steal 500 ms, irq 100 ms, softirq 200 ms
      "cpu  2840 0 200 9000 0 30 60 130 0 0\n"
      "cpu0 1420 0 100 4500 0 15 30 65 0 0\ncpu1 1420 0 100 4500 0 15 30 65 0 0\n");
  window.after.own_ns = 18'400'000'000;
  CHECK(window.account().precise);
  CHECK(window.account().unseen_ns == 0);
  CHECK(window.account().alone());
  window.after.own_ns -= 2 * second_ns;  // others' time is still found
  CHECK(window.account().unseen_ns > 1'900'000'000);
  CHECK_FALSE(window.account().alone());
  window.after.own_ns = 20 * second_ns;  // a kernel that charges tasks with it
  CHECK(window.account().unseen_ns == 0);
}

TEST_CASE("where the kernel's threads are hidden, unseen time under a load may be theirs") {
  Window window;
  window.loaded = true;
  window.before.run_ns = 0;
  window.after.run_ns = 3 * second_ns;
  CHECK_FALSE(window.account().alone());
  for (TasksSeen* seen : {&window.before, &window.after}) seen->processes.pop_back();
  CHECK(window.account().unseen_ns > 0);
  CHECK(window.account().alone());
}

TEST_CASE("the clock tick's samples count on the CPUs that do not measure, and without a load") {
  Window window;
  window.before.cpus = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
  window.after.cpus = {{0, 1000, 1000, 0, 0}, {1, 1000, 1000, 0, 0}};
  CHECK(window.account().unseen_ns > 9 * second_ns);
  window.loaded = true;
  CHECK(window.account().unseen_ns == 0);
  window.loaded = false;
  window.after.cpus[0] = {0, 0, 0, 0, 1000};
  CHECK(window.account().unseen_ns == 0);
}

TEST_CASE("whoever runs our own program above us brings all of its family; a shell brings itself alone") {
  const pid_t runner = self + 10;
  const std::vector<TaskStat> all = {task(self, runner, "howlate-probe", 0), task(load, self, "load", 0),
                                     task(load + 1, load, "worker", 0),      task(runner, shell, "init", 0),
                                     task(hog, runner, "stress", 0),         task(shell, 1, "bash", 0),
                                     task(shell + 50, shell, "make", 0)};
  const Kin kin = kin_of(all, self, [&](pid_t pid) { return pid == runner; });
  CHECK(kin.whole == std::set<pid_t>{self, load, load + 1, runner, hog});
  CHECK(kin.alone == std::set<pid_t>{shell});
}

}  // namespace
}  // namespace howlate
