// EVL's timers with libevl's own headers and library, on whatever kernel: what they say where the core does not take them.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "sys/core_state.hpp"
#include "timers/evl/evl_core.hpp"
#include "timers/evl/library.hpp"
#include "timers/timer.hpp"

using namespace howlate;

// What the timers take these headers to say.
static_assert(std::is_integral_v<decltype(evl_thread_state::isw)>);
static_assert(std::is_same_v<decltype(&evl_get_schedattr), int (*)(int, evl_sched_attrs*)>);

TEST_SUITE_BEGIN("evl");

TEST_CASE("the library's count of switches fails for a thread that is not EVL's, and is not 0") {
  const auto counted = Evl::switches();
  REQUIRE_FALSE(counted.ok());
  CHECK(counted.error().code == ExitCode::broken);
  CHECK(counted.error().message.find("how often the thread left its stage") != std::string::npos);
}

TEST_CASE(
    "each of EVL's timers is in the table, and says before anything starts that the core is not there") {
  int of_user_space = 0;
  int of_the_kernel = 0;
  for (const Timer* timer : timers()) {
    if (timer->core != "evl") continue;
    ++(timer->in_kernel ? of_the_kernel : of_user_space);
    CHECK(timer->in_kernel == (timer->attach == nullptr));
    CHECK(timer->in_kernel == !timer->module.empty());
    CHECK(timer->armed_each_activation);
    CHECK(timer->available().ok() == core_runs(Root(), "evl").ok());
  }
  CHECK(of_user_space == 2);
  CHECK(of_the_kernel == 2);
}

TEST_CASE("a thread becomes EVL's only where EVL runs" * doctest::skip(core_runs(Root(), "evl").ok())) {
  const Status taken = Evl::take({.policy = SCHED_FIFO, .priority = 1});
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message.starts_with("EVL does not take the measuring thread: "));
}

TEST_SUITE_END();
