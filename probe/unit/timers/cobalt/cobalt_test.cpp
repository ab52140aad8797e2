// Cobalt's timers with Xenomai's own headers and libraries, on whatever kernel: what they say where the core does not take them.
#include <alchemy/task.h>
#include <alchemy/timer.h>
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/cobalt.h>

#include <string>
#include <type_traits>

#include "sys/core_state.hpp"
#include "timers/cobalt/cobalt_core.hpp"
#include "timers/timer.hpp"

using namespace howlate;

// What the timers take these headers to say.
static_assert(sizeof(RTIME) == 8 && sizeof(SRTIME) == 8);
static_assert(std::is_unsigned_v<decltype(cobalt_threadstat::msw)>);
static_assert(std::is_same_v<decltype(&pthread_getschedparam_ex), int (*)(pthread_t, int*, sched_param_ex*)>);

TEST_SUITE_BEGIN("cobalt");

TEST_CASE("the library's count of switches fails for a thread that is not Cobalt's, and is not 0") {
  const auto counted = Cobalt::switches();
  REQUIRE_FALSE(counted.ok());
  CHECK(counted.error().code == ExitCode::broken);
  CHECK(counted.error().message.find("how often the thread left its stage") != std::string::npos);
}

TEST_CASE("a program that Cobalt does not bind goes on, and gives the library's own reason" *
          doctest::skip(core_runs(Root(), "cobalt").ok())) {
  const Status bound = Cobalt::try_to_bind();
  REQUIRE_FALSE(bound.ok());
  CHECK(bound.error().code == ExitCode::not_possible);
  CHECK(bound.error().message.starts_with("Cobalt does not take this program: "));
  CHECK(bound.error().message.find("it says nothing") == std::string::npos);
}

TEST_CASE(
    "each of Cobalt's timers is in the table, and says before anything starts that the core is not there") {
  int of_user_space = 0;
  int of_the_kernel = 0;
  for (const Timer* timer : timers()) {
    if (timer->core != "cobalt") continue;
    ++(timer->in_kernel ? of_the_kernel : of_user_space);
    CHECK(timer->in_kernel == (timer->attach == nullptr));
    CHECK(timer->in_kernel == !timer->module.empty());
    CHECK(timer->armed_each_activation == (timer->name != "alchemy"));
    CHECK(timer->available().ok() == core_runs(Root(), "cobalt").ok());
  }
  CHECK(of_user_space == 3);
  CHECK(of_the_kernel == 2);
}

TEST_SUITE_END();
