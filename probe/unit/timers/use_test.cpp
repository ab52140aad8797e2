// What a timer is asked to do and cannot: refused with a sentence and a remedy. And the work of an activation.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "timers/timer.hpp"
#include "timers/work.hpp"

namespace howlate {
namespace {

constexpr std::int64_t ms = 1'000'000;

void refuse(ExitCode code, std::string_view name, const TimerUse& use, const std::string& message,
            const std::string& remedy) {
  const Status checked = check_timer_use(**find_timer(name), use);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().code == code);
  CHECK_MESSAGE(checked.error().message.find(message) != std::string::npos, checked.error().message);
  CHECK_MESSAGE(checked.error().remedy.find(remedy) != std::string::npos, checked.error().remedy);
}

TEST_CASE("each timer takes what it can do") {
  for (const Timer* timer : timers()) {
    CAPTURE(std::string(timer->name));
    CHECK(check_timer_use(*timer, {.period_ns = ms}).ok());
    CHECK(check_timer_use(*timer, {.late_policy = LatePolicy::backlog, .period_ns = 20'000}).ok());
    CHECK(check_timer_use(*timer, {.dither = true, .period_ns = ms}).ok() == timer->armed_each_activation);
    CHECK(check_timer_use(*timer, {.threads = 2, .period_ns = ms}).ok() == !timer->one_thread);
  }
  CHECK(check_timer_use(**find_timer("setitimer"), {.late_policy = LatePolicy::as_published, .period_ns = ms})
            .ok());
}

TEST_CASE(
    "what a timer lacks is not possible, so a study measures its other timers; a value that it cannot take "
    "is wrong usage") {
  constexpr ExitCode lacks = ExitCode::not_possible;
  constexpr ExitCode usage = ExitCode::usage;
  refuse(lacks, "futex", {.late_policy = LatePolicy::as_published, .period_ns = ms}, "published",
         "setitimer");
  refuse(lacks, "setitimer", {.dither = true, .period_ns = ms}, "dithered", "clock_nanosleep");
  refuse(lacks, "setitimer", {.threads = 2, .period_ns = ms}, "one thread", "timerfd");
  refuse(usage, "setitimer", {.period_ns = 1'500}, "multiples of 1us", "choose 1us");
  refuse(usage, "spin", {.period_ns = 500 * ms + 1}, "spins for 500ms", "500ms");
}

TEST_CASE("a task of a real-time core runs as fifo or rr, and as fifo alone in the kernel") {
  const auto checked = [](bool in_kernel, const SchedPolicy& policy) {
    Timer timer = **find_timer("clock_nanosleep");
    timer.core = "cobalt";
    timer.in_kernel = in_kernel;
    const std::array<SchedPolicy, 1> policies = {policy};
    return check_timer_use(timer, {.period_ns = ms, .policies = policies});
  };
  const SchedPolicy fifo{.kind = SchedKind::fifo, .priority = 70};
  const SchedPolicy rr{.kind = SchedKind::rr, .priority = 70};
  CHECK(checked(false, fifo).ok());
  CHECK(checked(false, rr).ok());
  CHECK(checked(true, fifo).ok());
  CHECK(checked(true, rr).error().code == ExitCode::usage);
  CHECK(checked(true, rr).error().remedy == "choose --policy fifo:70");
  CHECK(checked(false, SchedPolicy{}).error().code == ExitCode::not_possible);
}

TEST_CASE("names of timers and late policies are found, and a wrong one suggests the nearest") {
  CHECK((*find_timer("clock_nanosleep-relative"))->name == "clock_nanosleep-relative");
  const auto timer = find_timer("timrfd");
  REQUIRE_FALSE(timer.ok());
  CHECK(timer.error().remedy.find("timerfd") != std::string::npos);
  CHECK(*parse_late_policy("as-published") == LatePolicy::as_published);
  const auto policy = parse_late_policy("backlogs");
  REQUIRE_FALSE(policy.ok());
  CHECK(policy.error().remedy.find("backlog") != std::string::npos);
}

TEST_CASE("only setitimer has the published loop") {
  for (const Timer* timer : timers())
    CHECK((late_policies(*timer).size() == 3) == (timer->name == "setitimer"));
}

TEST_CASE("more iterations are more work, and none is asked for where no work is") {
  const double speed = measure_work_speed();
  CHECK(speed > 0);
  CHECK(work_iterations(0, speed) == 0);
  CHECK(work_iterations(1, 0.001) == 1);
  CHECK(work_iterations(1'000, 0.5) == 500);
}

TEST_CASE("work takes the time that it was calibrated for, at least") {
  // Calibrated and worked in turns: a machine that becomes faster between the two disturbs a round, not most.
  std::vector<std::int64_t> took_ns;
  for (int round = 0; round < 15; ++round) {
    const std::int64_t iterations = work_iterations(ms, measure_work_speed());
    const std::int64_t before_ns = monotonic_now_ns();
    do_work(iterations);
    took_ns.push_back(monotonic_now_ns() - before_ns);
  }
  std::nth_element(took_ns.begin(), took_ns.begin() + 7, took_ns.end());
  CHECK(took_ns[7] > ms / 2);
}

}  // namespace
}  // namespace howlate
