// Reads a module's record of each interrupt until there are enough; howlate_irq and howlate_hpet differ in their clock.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "howlate_abi.h"
#include "irq/source.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace howlate {

inline constexpr std::uint32_t irq_records_held = 8192;
inline constexpr std::size_t irq_records_at_once = 64;

// An interrupt in nanoseconds: when it was due on CLOCK_MONOTONIC, and how late handler and reader were.
struct IrqTimes {
  std::int64_t due_ns, irq_latency_ns, wake_latency_ns;
};

// Every record, with the time stamp that its reader took as the first thing, until `each` says that it was the last or the run is
// stopped. Clock: stamp(), and times(record, stamp).
template <class Clock, class Each>
Status each_irq(int device, const PointsThread& thread, const Clock& clock, Each each) {
  howlate_irq_record records[irq_records_at_once];
  while (!thread.stopped()) {
    const ssize_t got = ::read(device, records, sizeof records);
    const auto stamp = clock.stamp();
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return broken("no record comes from the module: " + errno_text(got < 0 ? errno : 0));
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof records[0]; ++i)
      if (!each(records[i].index, clock.times(records[i], stamp))) return {};
  }
  return {};
}

// From the first interrupt to the last, as rows of the thread; then the module's own account.
template <class Clock>
Status take_irqs(int device, const IrqPlan& plan, PointsThread& thread, const Clock& clock,
                 howlate_irq_account& account) {
  const std::int64_t end_ns = plan.duration_ns > 0 ? thread.t0_ns() + plan.duration_ns : INT64_MAX;
  Status status;
  if (plan.maximum_only) {
    IrqMaxima maxima;
    status = each_irq(device, thread, clock, [&](std::uint64_t, const IrqTimes& irq) {
      if (thread.was_before_t0(irq.due_ns)) return true;
      maxima.note(irq.due_ns, irq.irq_latency_ns, irq.wake_latency_ns);
      const bool timely = irq.due_ns + irq.wake_latency_ns < end_ns;
      if (!timely) thread.ran_out_of_time();
      return maxima.interrupts < plan.interrupts && timely;
    });
    if (maxima.any())
      thread.add(maxima.at_ns - thread.t0_ns(), maxima.irq_latency_ns, maxima.wake_latency_ns, 0);
  } else {
    std::uint64_t next = 0;
    status = each_irq(device, thread, clock, [&](std::uint64_t index, const IrqTimes& irq) {
      const std::int64_t now_ns = irq.due_ns + irq.wake_latency_ns;
      if (thread.was_before_t0(irq.due_ns)) {
        next = index + 1;
        return true;
      }
      for (; next < index && thread.more(now_ns); ++next) thread.missed();
      if (!thread.more(now_ns)) return false;
      ++next;
      thread.add(irq.due_ns - thread.t0_ns(), irq.irq_latency_ns, irq.wake_latency_ns, 0);
      return thread.more(now_ns);
    });
  }
  ::ioctl(device, HOWLATE_IRQ_STOP);
  ::ioctl(device, HOWLATE_IRQ_ACCOUNT, &account);
  return status;
}

// Of all interrupts, the warm-up's among them.
inline void tell_irqs(const howlate_irq_account& account, PointsOutcomes& outcomes) {
  const auto figure = [&](const char* name, auto value) {
    outcomes.figures.emplace_back(name, static_cast<std::int64_t>(value));
  };
  figure("interrupts", account.handled);
  figure("interrupts_missed", account.missed);
  figure("records_lost", account.lost);
}

}  // namespace howlate
