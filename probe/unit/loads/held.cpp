// The controller against a fake CPU: it works, sleeps, is stolen from, stopped, and starved.
#include "loads/base/held.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace howlate {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1000 * ms;

// A worker on a CPU of its own, whose clocks are these two.
struct FakeCpu {
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t longest_sleep_ns = 0;

  void run(std::int64_t ns) {
    wall_ns += ns;
    cpu_ns += ns;
  }
  void taken_away(std::int64_t ns) { wall_ns += ns; }
  [[nodiscard]] double share() const { return static_cast<double>(cpu_ns) / static_cast<double>(wall_ns); }

  // Batches of `batch_ns` until `end_ns`; of each, `stolen` parts of a thousand are taken away; a sleep ends late.
  void work(HeldController& controller, std::int64_t end_ns, std::int64_t batch_ns = ms / 10,
            std::int64_t stolen = 0, std::int64_t late_ns = 60'000) {
    while (wall_ns < end_ns) {
      const std::int64_t until_ns = controller.sleep_until(wall_ns, cpu_ns);
      if (until_ns == HeldController::never) {
        wall_ns = end_ns;
        return;
      }
      if (until_ns != 0) {
        REQUIRE(until_ns > wall_ns);
        longest_sleep_ns = std::max(longest_sleep_ns, until_ns - wall_ns);
        wall_ns = until_ns + late_ns;
        continue;
      }
      run(batch_ns);
      taken_away(batch_ns * stolen / (1000 - stolen));
    }
  }
};

TEST_CASE("a held share follows its target") {
  for (const double target : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    CAPTURE(target);
    HeldController controller(target, 10 * ms);
    FakeCpu cpu;
    cpu.work(controller, 5 * second);
    CHECK(std::abs(cpu.share() - target) < 0.005);
    // Short cycles: about the grain, or what one batch asks for where that is longer.
    CHECK(cpu.longest_sleep_ns <= std::max(11 * ms, static_cast<std::int64_t>(0.2 * ms / target)));
  }
}

TEST_CASE("the grain is what a worker sleeps and works through, not more") {
  HeldController controller(0.5, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, second, ms / 10, 0, 0);
  CHECK(cpu.longest_sleep_ns >= 4 * ms);
  CHECK(cpu.longest_sleep_ns <= 6 * ms);
}

TEST_CASE("without a grain it sleeps after each piece of work, as long as the piece asks for") {
  HeldController controller(0.25, 0);
  CHECK(controller.sleep_until(30 * ms, 30 * ms) == 120 * ms);
  CHECK(controller.sleep_until(120 * ms, 30 * ms) == 0);
}

TEST_CASE("everything and nothing") {
  HeldController full(1.0, 10 * ms), idle(0.0, 10 * ms);
  CHECK(full.sleep_until(second, second) == 0);
  CHECK(full.sleep_until(second, 2 * second) == 0);
  CHECK(idle.sleep_until(0, 0) == HeldController::never);
}

TEST_CASE("time that a hypervisor or another task steals is made up for") {
  HeldController controller(0.5, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, 5 * second, ms / 10, 300);
  CHECK(std::abs(cpu.share() - 0.5) < 0.01);
  CHECK(controller.forgiven_ns() == 0);
}

TEST_CASE("a stall of half a second is made up for whole") {
  HeldController controller(0.5, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, second);
  cpu.taken_away(second / 2);
  cpu.work(controller, 5 * second);
  CHECK(std::abs(cpu.share() - 0.5) < 0.005);
  CHECK(controller.forgiven_ns() == 0);
}

TEST_CASE("what is owed after an hour is forgiven but for the bound") {
  HeldController controller(0.5, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, second);
  cpu.taken_away(3600 * second);
  const std::int64_t before_wall = cpu.wall_ns, before_cpu = cpu.cpu_ns;
  cpu.work(controller, cpu.wall_ns + 2 * second);  // a second owed is worked off in two of full load
  CHECK(cpu.cpu_ns - before_cpu >= 2 * second - 20 * ms);
  const std::int64_t after_wall = cpu.wall_ns, after_cpu = cpu.cpu_ns;
  cpu.work(controller, cpu.wall_ns + 2 * second);
  const double share =
      static_cast<double>(cpu.cpu_ns - after_cpu) / static_cast<double>(cpu.wall_ns - after_wall);
  CHECK(std::abs(share - 0.5) < 0.01);
  CHECK(controller.forgiven_ns() > 1798 * second);
  CHECK(after_wall > before_wall);
}

TEST_CASE("a CPU that gives less than the target is taken whole and the debt stays bounded") {
  HeldController controller(0.8, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, 60 * second, ms / 10, 600);  // it gets 40 % at most
  CHECK(cpu.share() > 0.39);
  CHECK(cpu.longest_sleep_ns == 0);
  CHECK(controller.forgiven_ns() > 20 * second);
}

TEST_CASE("a jump of the CPU time ahead is slept off") {
  HeldController controller(0.5, 10 * ms);
  FakeCpu cpu;
  cpu.work(controller, second);
  cpu.run(300 * ms);  // one long piece of work
  cpu.work(controller, 3 * second);
  CHECK(std::abs(cpu.share() - 0.5) < 0.005);
}

TEST_CASE("the batch finds its size and one outlier moves it by half at most") {
  BatchSize batch(100'000, 1 << 20);
  for (int i = 0; i < 40; ++i) batch.took(batch.size() * 50);
  CHECK(batch.size() == 2000);
  batch.took(batch.size() * 50 * 1000);
  CHECK(batch.size() == 1000);
  batch.took(0);  // a clock too coarse to tell
  CHECK(batch.size() == 2000);
  for (int i = 0; i < 60; ++i) batch.took(0);
  CHECK(batch.size() == 1 << 20);
  for (int i = 0; i < 60; ++i) batch.took(INT64_MAX);
  CHECK(batch.size() == 1);
}

}  // namespace
}  // namespace howlate
