// Every way to sleep that this kernel has, for real: at most late, never early, every release accounted for.
#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sys/clock.hpp"
#include "sys/thread.hpp"
#include "timers/fake_sleep.hpp"
#include "timers/timer.hpp"
#include "timers/work.hpp"

namespace howlate {
namespace {

// As the probe does it: every signal blocked before any thread is started.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// One measuring thread with its ring.
struct Measurement {
  explicit Measurement(const Timer& chosen, const ScheduleSpec& spec) : timer(chosen) {
    loop.schedule = Schedule(spec);
    loop.ring = &ring;
    loop.stop = &stop;
  }
  const Timer& timer;
  std::vector<Sample> storage = std::vector<Sample>(4096);
  Ring<Sample> ring{std::span(storage)};
  std::atomic<bool> stop{false};
  std::atomic<bool> ended{false};
  LoopContext loop;
  Status status;
  ThreadCounters after;
  std::thread thread;

  void start() {
    thread = std::thread([this] {
      status = timer.run(loop);
      after = read_thread_usage();
      ended.store(true);
    });
  }
  void join() { thread.join(); }
  void stop_and_join() {
    stop.store(true);
    while (!ended.load()) {  // a kick can be lost, so it is repeated
      pthread_kill(thread.native_handle(), kick_signal());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    join();
  }
};

ScheduleSpec from_now(std::int64_t period_ns) {
  return {.t0_ns = monotonic_now_ns() + 1'000'000, .period_ns = period_ns};
}

void check_account(const Measurement& measurement) {
  const LoopContext& loop = measurement.loop;
  const auto samples = measurement.ring.peek();
  REQUIRE_MESSAGE(measurement.status.ok(), (measurement.status ? "" : measurement.status.error().message));
  CHECK(count_releases(loop) == loop.activations + loop.overruns);
  CHECK(loop.dropped == 0);
  CHECK(static_cast<std::int64_t>(samples.size()) == loop.activations);
  std::int64_t maximum = INT64_MIN;
  for (std::size_t n = 0; n < samples.size(); ++n) {
    REQUIRE(samples[n].latency_ns >= 0);
    maximum = std::max(maximum, samples[n].latency_ns);
  }
  CHECK(maximum == loop.latency_ns_max);
}

std::vector<LatePolicy> policies_of(const Timer& timer) {
  std::vector<LatePolicy> policies;
  for (const std::string_view name : late_policies(timer)) policies.push_back(*parse_late_policy(name));
  return policies;
}

// Calls `test` for each timer that is there and each of its policies; says which are not there.
template <class Test>
void for_each_way(Test test) {
  const SignalsBlocked blocked;
  int there = 0;
  for (const Timer* timer : timers()) {
    if (const Status available = timer->available(); !available) {
      MESSAGE(std::string(timer->name) << ": " << available.error().message);
      continue;
    }
    ++there;
    for (const LatePolicy policy : policies_of(*timer)) {
      CAPTURE(std::string(timer->name));
      CAPTURE(std::string(late_policy_name(policy)));
      test(*timer, policy);
    }
  }
  CHECK(there >= 7);  // what every kernel since 2.6.28 has
}

TEST_CASE("each way to sleep serves 200 releases at 1 ms and comes back before none") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    Measurement measurement(timer, from_now(1'000'000));
    measurement.loop.late_policy = policy;
    measurement.loop.activations_wanted = 200;
    measurement.start();
    measurement.join();
    check_account(measurement);
    CHECK(measurement.loop.activations == 200);
    CHECK(measurement.loop.stop_reason == StopReason::activations);
    CHECK(measurement.loop.phase_before_ns >= 0);
    CHECK(measurement.loop.phase_after_ns >= measurement.loop.phase_before_ns);
    CHECK((measurement.loop.phase_before_ns < 1'000));
    CHECK((measurement.loop.phase_after_ns == 0) == timer.armed_each_activation);
  });
}

TEST_CASE("each way to sleep that is armed each time serves dithered releases, until the time is up") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    if (!timer.armed_each_activation) return;
    ScheduleSpec spec = from_now(500'000);
    spec.dither = true;
    spec.seed = 5;
    Measurement measurement(timer, spec);
    measurement.loop.late_policy = policy;
    measurement.loop.end_ns = spec.t0_ns + 50'000'000;
    measurement.start();
    measurement.join();
    check_account(measurement);
    CHECK(count_releases(measurement.loop) == Schedule(spec).due_by(measurement.loop.end_ns - 1));
    CHECK(measurement.loop.stop_reason == StopReason::duration);
  });
}

void stall(void* /*context*/, const Sample& /*sample*/) {
  const std::int64_t until_ns = monotonic_now_ns() + 30'000'000;
  while (monotonic_now_ns() < until_ns) {
  }
}

TEST_CASE("after a stall of 30 ms at 1 ms every release is accounted for, as the late policy has it") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    Measurement measurement(timer, from_now(1'000'000));
    measurement.loop.late_policy = policy;
    measurement.loop.activations_wanted = 100;
    measurement.loop.threshold_ns = -1;  // the first activation is above it
    measurement.loop.on_threshold = stall;
    measurement.start();
    measurement.join();
    check_account(measurement);
    const auto samples = measurement.ring.peek();
    if (policy == LatePolicy::skip) {
      CHECK(samples[1].release - samples[0].release >= 29);
      CHECK(measurement.loop.overruns >= 28);
    } else if (policy == LatePolicy::backlog) {
      CHECK(measurement.loop.late_starts >= 28);
      CHECK(measurement.loop.latency_ns_max >= 28'000'000);
      CHECK(samples[1].latency_ns >= 28'000'000);
      for (std::size_t n = 0; n < samples.size(); ++n)
        CHECK(samples[n].release == static_cast<std::int64_t>(n));
    } else {
      for (std::size_t n = 2; n < samples.size(); ++n) REQUIRE(samples[n].latency_ns >= 27'000'000);
      CHECK(measurement.loop.overruns >= 27);  // it never finds back
    }
  });
}

ScheduleSpec in_20_ms() {
  ScheduleSpec spec = from_now(1'000'000);
  spec.t0_ns += 20'000'000;
  return spec;
}

// Twenty releases of warm-up, then ten activations.
void warm_up_20(Measurement& measurement, LatePolicy policy) {
  measurement.loop.late_policy = policy;
  measurement.loop.warm_up_ns = 20'500'000;
  measurement.loop.activations_wanted = 10;
}

TEST_CASE("the warm-up serves the releases before t0 by every way to sleep, and none of them is a sample") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    Measurement measurement(timer, in_20_ms());
    warm_up_20(measurement, policy);
    measurement.start();
    measurement.join();
    check_account(measurement);
    const WarmUp& warm = measurement.loop.warm_up;
    CHECK(warm.releases == 20);
    CHECK(warm.activations + warm.overruns == 20);
    CHECK(warm.activations > 0);
    CHECK(measurement.loop.activations == 10);
    CHECK(measurement.ring.peek().front().release_ns >= 0);
  });
}

// Enough work for `duration_ns` in each of five tries: a stall makes one seem longer.
std::int64_t work_iterations_of(std::int64_t duration_ns) {
  std::int64_t iterations = 1000;
  for (int enough = 0; enough < 5; ++enough) {
    const std::int64_t begun_ns = monotonic_now_ns();
    do_work(iterations);
    if (monotonic_now_ns() - begun_ns >= duration_ns) continue;
    iterations *= 2;
    enough = -1;
  }
  return iterations;
}

TEST_CASE("a warm-up whose work takes longer than a period leaves no expiry for the first release") {
  const std::int64_t iterations = work_iterations_of(1'500'000);
  for_each_way([&](const Timer& timer, LatePolicy policy) {
    Measurement measurement(timer, in_20_ms());
    warm_up_20(measurement, policy);
    measurement.loop.work_iterations = iterations;
    measurement.start();
    measurement.join();
    check_account(measurement);
    CHECK(measurement.loop.warm_up.overruns > 0);
    CHECK(measurement.loop.activations == 10);
  });
}

TEST_CASE("a stop ends a wait of an hour at once, and is no early return") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    ScheduleSpec spec = from_now(3'600'000'000'000);
    Measurement measurement(timer, spec);
    measurement.loop.late_policy = policy;
    measurement.start();
    while (measurement.loop.live_activations->load() == 0) std::this_thread::yield();
    measurement.stop_and_join();
    check_account(measurement);
    CHECK(measurement.loop.stop_reason == StopReason::stopped);
    CHECK(measurement.loop.activations == 1);
    // A repeating timer's expiry comes early to the next wait where its own release was served without waiting.
    CHECK(measurement.loop.early <= (timer.armed_each_activation ? 0 : 1));
  });
}

TEST_CASE("a task that begins after its first release serves that one at once, however long the period is") {
  for_each_way([](const Timer& timer, LatePolicy policy) {
    ScheduleSpec spec = from_now(3'600'000'000'000);
    spec.t0_ns -= 2'000'000;  // 1 ms ago
    Measurement measurement(timer, spec);
    measurement.loop.late_policy = policy;
    measurement.loop.activations_wanted = 1;
    measurement.start();
    measurement.join();
    check_account(measurement);
    CHECK(measurement.loop.activations == 1);
  });
}

TEST_CASE("the published loop does not lag when it begins after some of its releases") {
  const SignalsBlocked blocked;
  ScheduleSpec spec = from_now(1'000'000);
  spec.t0_ns -= 101'000'000;  // the first release was 100 ms ago
  Measurement measurement(**find_timer("setitimer"), spec);
  measurement.loop.late_policy = LatePolicy::as_published;
  measurement.loop.activations_wanted = 200;
  measurement.start();
  measurement.join();
  check_account(measurement);
  const auto samples = measurement.ring.peek();
  REQUIRE(samples.size() == 200);
  CHECK(samples[0].latency_ns >= 100'000'000);
  std::int64_t least_ns = INT64_MAX;
  for (const Sample& sample : samples) least_ns = std::min(least_ns, sample.latency_ns);
  CHECK(least_ns < samples[0].latency_ns - 50'000'000);
}

TEST_CASE("a signal that is not a stop makes an early return, waits again, and is counted") {
  const SignalsBlocked blocked;
  for (const Timer* timer : timers()) {
    if (!timer->available() || timer->windows) continue;  // a spinning thread does not wait
    CAPTURE(std::string(timer->name));
    Measurement measurement(*timer, from_now(200'000'000));
    measurement.loop.activations_wanted = 2;
    measurement.start();
    while (!measurement.ended.load()) {
      pthread_kill(measurement.thread.native_handle(), kick_signal());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    measurement.join();
    check_account(measurement);
    CHECK(measurement.loop.activations == 2);
    CHECK(measurement.loop.early > 0);
  }
}

TEST_CASE("two threads use a way to sleep at the same time") {
  const SignalsBlocked blocked;
  for (const Timer* timer : timers()) {
    if (!timer->available() || timer->one_thread) continue;
    CAPTURE(std::string(timer->name));
    std::vector<std::unique_ptr<Measurement>> both;
    for (int thread = 0; thread < 2; ++thread) {
      both.push_back(std::make_unique<Measurement>(*timer, from_now(1'000'000)));
      both.back()->loop.activations_wanted = 50;
    }
    for (auto& one : both) one->start();
    for (auto& one : both) one->join();
    for (auto& one : both) check_account(*one);
  }
}

ScheduleSpec windows_from_now() {
  ScheduleSpec spec = from_now(1'000'000);
  spec.window_on_ns = 10'000'000;
  spec.window_off_ns = 40'000'000;
  return spec;
}

// How often nothing was left to do of a window and the next release lay in another one, more than the 2 ms away
// for which a spinning task is awake before it: each time it has to sleep, and a thread that goes to sleep makes
// a voluntary switch, however late the machine is.
std::int64_t pauses(const Measurement& measurement) {
  const ScheduleSpec spec = windows_from_now();
  const std::int64_t window_ns = spec.window_on_ns + spec.window_off_ns;
  const auto samples = measurement.ring.peek();
  std::int64_t pauses = 0;
  for (std::size_t n = 1; n < samples.size(); ++n) {
    const Sample& before = samples[n - 1];
    const std::int64_t ended_ns = before.release_ns + std::max(before.latency_ns, before.response_ns);
    const std::int64_t next_ns = samples[n].release_ns;
    pauses += next_ns / window_ns != ended_ns / window_ns && next_ns - ended_ns > 3'000'000 ? 1 : 0;
  }
  return pauses;
}

TEST_CASE("a spinning task sleeps through the windows that it leaves out") {
  const SignalsBlocked blocked;
  Measurement measurement(**find_timer("spin"), windows_from_now());
  measurement.loop.activations_wanted = 25;
  measurement.start();
  measurement.join();
  check_account(measurement);
  for (const Sample& sample : measurement.ring.peek()) CHECK(sample.release_ns % 50'000'000 < 10'000'000);
  CHECK(pauses(measurement) > 0);
  CHECK((measurement.after - measurement.loop.before).voluntary_switches >= pauses(measurement));
}

TEST_CASE("a spinning task whose last release of a window was served late sleeps all the same") {
  const SignalsBlocked blocked;
  Measurement measurement(**find_timer("spin"), windows_from_now());
  measurement.loop.activations_wanted = 20;
  measurement.loop.work_iterations = work_iterations(12'000'000, measure_work_speed());
  measurement.start();
  measurement.join();
  check_account(measurement);
  // Work of 12 ms passes the rest of each window, and what is left of the pause is slept. Where the machine is
  // late, a pause may be passed too: with 20 of them, not each.
  for (const Sample& sample : measurement.ring.peek()) CHECK(sample.release_ns % 50'000'000 < 10'000'000);
  CHECK(pauses(measurement) > 0);
  CHECK((measurement.after - measurement.loop.before).voluntary_switches >= pauses(measurement));
}

TEST_CASE("setitimer refuses to measure while another thread would take its signal") {
  const SignalsBlocked blocked;
  std::atomic<bool> done{false}, open{false};
  std::thread other([&] {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    open.store(true);
    while (!done.load()) std::this_thread::yield();
  });
  while (!open.load()) std::this_thread::yield();
  Measurement measurement(**find_timer("setitimer"), from_now(1'000'000));
  measurement.loop.activations_wanted = 1;
  measurement.start();
  measurement.join();
  done.store(true);
  other.join();
  REQUIRE_FALSE(measurement.status.ok());
  CHECK(measurement.status.error().message.find("SIGALRM") != std::string::npos);
}

}  // namespace
}  // namespace howlate
