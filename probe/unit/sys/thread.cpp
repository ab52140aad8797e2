#include "sys/thread.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include "fixture.hpp"

namespace howlate {
namespace {

TEST_CASE("a thread is what it was asked to be before its body begins") {
  const int cpu = read_affinity().back();
  std::vector<int> cpus;
  std::int64_t slack = 0;
  auto thread = RtThread::start({{cpu}, {}, 90'000}, [&] {
    cpus = read_affinity();
    slack = read_timer_slack();
  });
  REQUIRE(thread.ok());
  CHECK(thread->in_force().cpus == std::vector<int>{cpu});
  CHECK(thread->in_force().timer_slack_ns == 90'000);
  CHECK(policy_text(thread->in_force().policy) == "other");
  thread->join();
  CHECK(cpus == std::vector<int>{cpu});
  CHECK(slack == 90'000);
}

TEST_CASE("a thread that cannot be what it should be does not run its body") {
  std::atomic<bool> ran{false};
  const auto thread = RtThread::start({{8191}, {}, 0}, [&] { ran.store(true); });
  CHECK(!thread.ok());
  CHECK(!ran.load());
}

TEST_CASE("a thread's faults and switches are counted, and its migrations where the kernel says them") {
  const Fixture fixture;
  CHECK(read_thread_counters(fixture.root()).migrations == -1);
  fixture.write("/proc/thread-self/sched",
                "x (1, #threads: 1)\nse.exec_start   :   12.5\nse.nr_migrations      :      17\n");
  const ThreadCounters now = read_thread_counters(fixture.root());
  CHECK(now.migrations == 17);
  CHECK((now - ThreadCounters{.migrations = 12}).migrations == 5);
  CHECK((now - ThreadCounters{}).migrations == -1);
}

}  // namespace
}  // namespace howlate
