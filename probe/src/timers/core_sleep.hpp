// What the ways to sleep of a real-time core beside Linux share: the thread runs on the core's stage while it measures, and its way back to
// Linux's stage is counted.
//
// The core programs its timers ahead of their dates (sys/gravity.hpp), so a wake-up may come before the release: that is the answer to this
// release, and its latency is negative. Early is a wake-up by a signal alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include "sys/gravity.hpp"
#include "timers/core_thread.hpp"
#include "timers/sleep.hpp"

namespace howlate {

// A Backend is a core as its library has it (timers/cobalt/cobalt_core.hpp, timers/evl/evl_core.hpp):
//   static constexpr std::string_view name;         "cobalt"
//   static Status available();                      whether a program can use the core
//   static Status take(const CorePolicy& policy);   the calling thread becomes one of the core's, with this policy
//   static void enter();                            it goes to the core's stage
//   static Result<std::int64_t> switches();         how often it has left that stage, by the core's count
template <class Backend>
class CoreSleep : public InterruptibleSleep {
 public:
  using Core = Backend;

  explicit CoreSleep(LoopContext& loop) : loop_(loop) {}

  // Before the loop: what else the way to sleep needs of the core.
  static Status open() { return {}; }
  [[nodiscard]] bool early(std::int64_t /*release_ns*/, std::int64_t /*now_ns*/) const { return !woken_; }
  [[nodiscard]] std::int64_t end_of_loop() const { return std::max(now(), served_ns_); }

  // After the loop. Without the count nobody knows whether the thread was on the core's stage, so nothing was measured. What ends a run
  // from outside (a stop's signal, the mark of a threshold) makes the thread leave the stage once.
  Status settle() const {
    if (!before_) return before_.error();
    const auto after = begun_ ? Core::switches() : before_;
    if (!after) return after.error();
    const bool ended_from_outside =
        loop_.stop_reason == StopReason::stopped || loop_.stop_reason == StopReason::threshold;
    const std::int64_t counted = *after - *before_;
    loop_.core.switches = counted - (ended_from_outside && counted > 0 ? 1 : 0);
    return {};
  }

 protected:
  // Before a wait. The count begins here, because the loop itself reads counters of Linux's before its first.
  void begin() {
    if (begun_) [[likely]]
      return;
    begun_ = true;
    Core::enter();
    before_ = Core::switches();
    if (!before_) error = ENODATA;  // ends the run; settle() says why
  }
  [[nodiscard]] std::int64_t served_ns() const { return served_ns_; }
  // After one: 0, or an errno.
  void woken(int failed, std::int64_t release_ns) {
    woken_ = failed == 0 && error == 0;  // the loop asks for errors after early wake-ups alone
    if (woken_) [[likely]]
      served_ns_ = release_ns;
    else if (failed != 0 && failed != EINTR && error == 0)
      error = failed;  // the first one is the cause of what follows
  }

 private:
  LoopContext& loop_;
  Result<std::int64_t> before_ = std::int64_t{0};
  std::int64_t served_ns_ = INT64_MIN;
  bool begun_ = false;
  bool woken_ = true;
};

// The gravity of what waits, for the account. Without it a latency of a core's says nothing.
inline Status note_gravity(LoopContext& loop, std::string_view core, std::int64_t Gravity::*kind) {
  const auto gravity = read_gravity(Root(), core);
  if (!gravity) return not_possible("the core's gravity is not known: " + gravity.error().message);
  loop.core.gravity_ns = (*gravity).*kind;
  return {};
}

// The calling thread becomes one of the core's, once.
template <class Core>
Status attach_to_core() {
  thread_local bool attached = false;
  if (attached) return {};
  const auto policy = own_core_policy();
  if (!policy) return policy.error();
  if (Status taken = Core::take(*policy); !taken) return taken;
  attached = true;
  return {};
}

// The whole life of a timer of user space: a Sleep is a CoreSleep with wait(), and `calls`, by which an error names it.
template <class Sleep>
Status run_on_core(LoopContext& loop) {
  using Core = typename Sleep::Core;
  if (Status attached = attach_to_core<Core>(); !attached) return attached;
  if (Status noted = note_gravity(loop, Core::name, &Gravity::user_ns); !noted) return noted;
  Sleep sleep(loop);
  if (Status opened = sleep.open(); !opened) return opened;
  measure(loop, sleep);
  if (Status counted = sleep.settle(); !counted) return counted;
  return outcome(sleep, Sleep::calls);
}

template <class Sleep>
constexpr Timer core_timer(std::string_view name, std::string_view summary,
                           bool armed_each_activation = true) {
  using Core = typename Sleep::Core;
  return {
      .name = name,
      .summary = summary,
      .armed_each_activation = armed_each_activation,
      .as_published = false,
      .available = Core::available,
      .run = run_on_core<Sleep>,
      .core = Core::name,
      .attach = attach_to_core<Core>,
  };
}

}  // namespace howlate
