#include "loads/base/held.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "sys/clock.hpp"

namespace howlate {
namespace {

std::int64_t process_cpu_ns() {
  struct timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return ns_of(now);
}

}  // namespace

std::int64_t HeldController::sleep_until(std::int64_t wall_ns, std::int64_t cpu_ns) {
  if (target_ >= 1.0) return 0;
  if (target_ <= 0.0) return never;
  // The CPU time that should have been used by now, less what was.
  auto owed_ns =
      static_cast<std::int64_t>(std::llround(target_ * static_cast<double>(wall_ns))) - cpu_ns - forgiven_ns_;
  if (owed_ns > debt_max_ns_) {
    forgiven_ns_ += owed_ns - debt_max_ns_;
    owed_ns = debt_max_ns_;
  }
  // While it runs for target * grain its due grows by target of that: this is how far ahead it then is.
  const auto lead_ns = static_cast<std::int64_t>(target_ * (1.0 - target_) * static_cast<double>(grain_ns_));
  const std::int64_t ahead_ns = -owed_ns;
  if (ahead_ns <= 0 || ahead_ns < lead_ns) return 0;
  return std::max(wall_ns + 1, static_cast<std::int64_t>(
                                   std::llround(static_cast<double>(cpu_ns + forgiven_ns_) / target_)));
}

void BatchSize::took(std::int64_t cpu_ns) {
  const std::int64_t last = size_;
  if (cpu_ns <= 0) {
    size_ = std::min(most_, last * 2);
    return;
  }
  const double per_unit_ns = static_cast<double>(cpu_ns) / static_cast<double>(last);
  const double wanted = std::min(static_cast<double>(wanted_ns_) / per_unit_ns, static_cast<double>(most_));
  // One batch that a fault or an interrupt made long must not change the size by much.
  size_ = std::clamp(static_cast<std::int64_t>(wanted), std::max<std::int64_t>(1, last / 2),
                     std::min(most_, last * 2));
}

HeldClock::HeldClock() : wall_origin_ns_(monotonic_now_ns()), cpu_origin_ns_(process_cpu_ns()) {}

std::int64_t HeldClock::wall_ns() const {
  return monotonic_now_ns() - wall_origin_ns_;
}
std::int64_t HeldClock::cpu_ns() const {
  return process_cpu_ns() - cpu_origin_ns_;
}

void HeldClock::sleep_until(std::int64_t wall_ns) const {
  if (wall_ns == HeldController::never) {
    for (;;) ::pause();
  }
  const std::int64_t until_ns = wall_origin_ns_ + wall_ns;
  const struct timespec until = timespec_of(until_ns);
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace howlate
