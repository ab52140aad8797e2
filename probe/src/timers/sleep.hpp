// What the ways to sleep share: the base of what the loop asks of each, the signal masks, the kernel's own
// timespec.
#pragma once

#include <errno.h>
#include <linux/time_types.h>
#include <signal.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "timers/measure.hpp"
#include "timers/timer.hpp"
#include "timers/work.hpp"

namespace howlate {

// The members that every Sleep inherits and may hide. No virtual function: the loop is instantiated for each.
struct SleepBase {
  int error = 0;  // errno of a call that failed otherwise than by a signal; ends the run

  static std::int64_t now() { return monotonic_now_ns(); }
  // The instant at which the loop ends. It is not before the release that was served last.
  static std::int64_t end_of_loop() { return monotonic_now_ns(); }
  // Was the wake-up not the one that was waited for?
  static bool early(std::int64_t release_ns, std::int64_t now_ns) { return now_ns < release_ns; }
  static constexpr std::uint32_t flags() { return 0; }
  static void work(std::int64_t iterations) { do_work(iterations); }

  // Keeps the reason when a system call returned a negative errno that is not a signal's.
  void check_returned(long returned) {
    if (returned < 0 && returned != -EINTR) [[unlikely]]
      error = static_cast<int>(-returned);
  }
  // Keeps the reason when a call returned a failure that is not a signal's.
  void check(long returned) {
    if (returned < 0 && errno != EINTR) [[unlikely]]
      error = errno;
  }
};

// The kernel's own timespec, also where the C library's has 32 bits.
using KernelTimespec = struct __kernel_timespec;

inline KernelTimespec kernel_timespec(std::int64_t duration_ns) {
  const auto ns = static_cast<std::uint64_t>(duration_ns);  // unsigned division is shorter
  return {.tv_sec = static_cast<std::int64_t>(ns / 1'000'000'000),
          .tv_nsec = static_cast<std::int64_t>(ns % 1'000'000'000)};
}

// Changes the calling thread's signal mask and puts it back.
class SignalMask {
 public:
  SignalMask(int how, std::initializer_list<int> signals) {
    sigset_t changed = set(signals);
    pthread_sigmask(how, &changed, &before_);
  }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

  static sigset_t set(std::initializer_list<int> signals) {
    sigset_t made;
    sigemptyset(&made);
    for (const int signal : signals) sigaddset(&made, signal);
    return made;
  }

 private:
  sigset_t before_;
};

// For ways to sleep that a handled signal interrupts with EINTR.
struct InterruptibleSleep : SleepBase {
  SignalMask kick_unblocked{SIG_UNBLOCK, {kick_signal()}};
};

// For ways to sleep that wait for a signal of their own with sigwait(): blocked while they run, drained at
// the end.
class SignalSleep : public SleepBase {
 public:
  explicit SignalSleep(int signal)
      : blocked_(SIG_BLOCK, {signal, kick_signal()}), awaited_(SignalMask::set({signal, kick_signal()})) {}
  ~SignalSleep() { drain(); }
  SignalSleep(const SignalSleep&) = delete;
  SignalSleep& operator=(const SignalSleep&) = delete;

 protected:
  int wait_for_signal() {
    int taken = 0;
    const int failed = sigwait(&awaited_, &taken);
    if (failed != 0) [[unlikely]]
      error = failed;
    return taken;
  }
  void drain() {
    const struct timespec at_once = {};
    while (sigtimedwait(&awaited_, nullptr, &at_once) > 0) {
    }
  }

 private:
  SignalMask blocked_;
  sigset_t awaited_;
};

// Whether every call did what it should, after the loop.
inline Status outcome(const SleepBase& sleep, std::string_view call) {
  if (sleep.error == 0) return {};
  return broken(std::string(call) + " failed while measuring: " + errno_text(sleep.error));
}

}  // namespace howlate
