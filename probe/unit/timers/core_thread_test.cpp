// What a core takes over from the measuring thread, and how it is checked.
#include "timers/core_thread.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <thread>

using namespace howlate;

namespace {

// In a thread of its own with this policy; nothing where the right to it lacks.
Result<CorePolicy> policy_in(int policy, int priority) {
  Result<CorePolicy> own = broken("no right to real-time scheduling");
  std::thread([&] {
    const struct sched_param parameters { priority };
    if (::sched_setscheduler(0, policy, &parameters) == 0) own = own_core_policy();
  }).join();
  return own;
}

// A test that cannot run here is skipped, and not counted as passed.
bool no_right_to_fifo() {
  return !policy_in(SCHED_FIFO, 1);
}

}  // namespace

TEST_CASE("an ordinary thread is refused with the policy to give") {
  const auto own = policy_in(SCHED_OTHER, 0);
  REQUIRE_FALSE(own.ok());
  CHECK(own.error().code == ExitCode::not_possible);
  CHECK(own.error().remedy == "Give --policy fifo:80");
}

TEST_CASE("fifo has no time slice, and rr has Linux's" * doctest::skip(no_right_to_fifo())) {
  const auto fifo = policy_in(SCHED_FIFO, 3);
  const auto rr = policy_in(SCHED_RR, 4);
  REQUIRE(fifo.ok());
  REQUIRE(rr.ok());
  CHECK(fifo->priority == 3);
  CHECK(fifo->quantum.tv_nsec == 0);
  CHECK(rr->policy == SCHED_RR);
  CHECK(rr->quantum.tv_sec + rr->quantum.tv_nsec > 0);
}

TEST_CASE("a core that runs the thread otherwise is an error") {
  const CorePolicy fifo{SCHED_FIFO, 80, {}};
  const CorePolicy rr{SCHED_RR, 80, {0, 100'000'000}};
  CHECK(check_taken(fifo, fifo).ok());
  CHECK(check_taken(rr, rr).ok());
  CHECK(check_taken(rr, fifo).error().message ==
        "the core was to run the measuring thread as rr:80 in slices of 100000 us and runs it as fifo:80");
  CHECK_FALSE(check_taken(rr, {SCHED_RR, 80, {}}).ok());
  CHECK_FALSE(check_taken(fifo, {SCHED_FIFO, 79, {}}).ok());
}
