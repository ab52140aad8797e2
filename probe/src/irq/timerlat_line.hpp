// A line of the kernel's timerlat tracer. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace howlate {

struct TimerlatLine {
  std::int64_t number = 0;  // of the timer's expiry, from the tracer's start on
  bool irq = false;         // the handler's; else the thread's
  std::int64_t latency_ns = 0;
  std::int64_t stamp_ns = 0;  // when it was written, by the trace's clock, in microseconds of it
};

// "  <idle>-0  [000] d.h1.  12.345678: #7     context    irq timer_latency      1234 ns"; nothing for any other line,
// and for a third context (the return to user space).
std::optional<TimerlatLine> read_timerlat_line(std::string_view line);

}  // namespace howlate
