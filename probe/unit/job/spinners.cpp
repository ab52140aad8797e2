// A task of the idle class on each CPU, until the owner goes.
#include "job/spinners.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <filesystem>
#include <string>

#include "sys/file.hpp"

namespace howlate {
namespace {

// The threads of this process with such a name, and how many of them are of the class for idle time.
struct Threads {
  int named = 0;
  int idle_class = 0;
};

Threads threads_named(const std::string& name) {
  Threads threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto said = read_text(task.path().string() + "/comm");
    if (!said || *said != name) continue;
    ++threads.named;
    threads.idle_class += ::sched_getscheduler(std::stoi(task.path().filename())) == SCHED_IDLE ? 1 : 0;
  }
  return threads;
}

int first_allowed_cpu() {
  cpu_set_t allowed;
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  return cpu;
}

TEST_CASE("a spinner is of the class for idle time, and goes with its owner") {
  const int cpu = first_allowed_cpu();
  const std::string name = "spinner/" + std::to_string(cpu);
  {
    Spinners spinners;
    REQUIRE(spinners.start({cpu}));
    const Threads threads = threads_named(name);
    CHECK(threads.named == 1);
    CHECK(threads.idle_class == 1);
  }
  CHECK(threads_named(name).named == 0);
}

TEST_CASE("a CPU that is not there has no spinner, and why is said") {
  Spinners spinners;
  CHECK_FALSE(spinners.start({1 << 9}));
}

}  // namespace
}  // namespace howlate
