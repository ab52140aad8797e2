// A line of the kernel's hwlat tracer. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace howlate {

struct HwlatLine {
  int cpu = 0;
  std::int64_t inner_ns = 0;     // the longest gap between the two readings of one turn
  std::int64_t outer_ns = 0;     // and between two turns
  std::int64_t realtime_ns = 0;  // when it was seen, by CLOCK_REALTIME
  std::int64_t count = 1;        // gaps above the threshold in this window

  [[nodiscard]] std::int64_t gap_ns() const { return std::max(inner_ns, outer_ns); }
};

// "  <...>-1729 [001] d... 679.310279: #1  inner/outer(us):   11/13    ts:1499801089.066141940 count:2"; nothing for
// any other line.
std::optional<HwlatLine> read_hwlat_line(std::string_view line);

// CPUs as the mask for tracing_cpumask: {0, 3} is "9", {33} is "2,00000000".
std::string cpu_mask_text(const std::vector<int>& cpus);

}  // namespace howlate
