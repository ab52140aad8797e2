// Reading the clock until the release has come: no sleep, no timer, no scheduler. What it finds late is what
// takes the CPU away from a running thread.
//
// It works in windows of the schedule (half a second in each second) and sleeps through the rest. When the
// reading that ends a wait comes long after the one before, the kernel is asked whether the thread was
// switched out in between: then it was another thread, else an interrupt, the hypervisor or the hardware. The
// question comes after the time stamp.
#include <sys/resource.h>

#include "timers/nanosleep.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

constexpr std::int64_t suspicious_gap_ns = 2'000;  // between two readings; a switch out and back costs more
constexpr std::int64_t spin_ahead_ns = 2'000'000;  // awake this long before a window's first release

class Spin : public InterruptibleSleep {
 public:
  explicit Spin(const LoopContext& loop) : loop_(loop), switches_(switches()), last_ns_(now()) {}

  std::int64_t wait(std::int64_t release_ns) {
    if (window_of(release_ns) != window_of(last_ns_)) sleep_through(release_ns - spin_ahead_ns);
    for (std::int64_t reading = now();; reading = now()) {
      gap_ns_ = reading - last_ns_;
      last_ns_ = reading;
      if (reading >= release_ns || stopped(loop_)) return reading;
      if (gap_ns_ > suspicious_gap_ns) switches_ = switches();
    }
  }

  // About the wait that has just ended.
  std::uint32_t flags() {
    if (gap_ns_ <= suspicious_gap_ns) return 0;
    const std::int64_t before = switches_;
    switches_ = switches();
    return switches_ != before ? row_switched_out : 0U;
  }

 private:
  // By instants, not by how long there is to wait: a last release that is served late leaves less than a pause.
  [[nodiscard]] std::int64_t window_of(std::int64_t instant_ns) const {
    const ScheduleSpec& spec = loop_.schedule.spec();
    return spec.window_on_ns == 0 ? 0 : (instant_ns - spec.t0_ns) / (spec.window_on_ns + spec.window_off_ns);
  }

  static std::int64_t switches() {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw + usage.ru_nvcsw;
  }

  void sleep_through(std::int64_t instant_ns) {
    const std::int64_t until_ns = instant_ns > 0 ? instant_ns : 0;
    while (!stopped(loop_) && sleep_until(until_ns) == -EINTR) {
    }
    switches_ = switches();
    last_ns_ = now();
  }

  const LoopContext& loop_;
  std::int64_t switches_;
  std::int64_t last_ns_;
  std::int64_t gap_ns_ = 0;
};

Status available() {
  return {};
}

Status run(LoopContext& loop) {
  Spin sleep(loop);
  measure(loop, sleep);
  return outcome(sleep, "spinning");
}

}  // namespace

extern const Timer timer_spin = {
    .name = "spin",
    .summary = "reads the clock until the release has come, half a second in each second",
    .armed_each_activation = true,
    .as_published = false,
    .windows = true,
    .available = available,
    .run = run,
};

}  // namespace howlate
