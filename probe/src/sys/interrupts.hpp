// How many interrupts of each kind each CPU has had since boot: /proc/interrupts, and /proc/softirqs, which has the same form.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

struct InterruptLine {
  std::string label;                              // "24", "LOC"; of softirqs "NET_RX"
  std::string name;                               // what stands behind the counts; softirqs have none
  std::vector<std::pair<int, long long>> counts;  // CPU, count; zeros left out
};

// The first line names the CPUs in the order of the columns (offline ones are left out). A line with fewer counts than columns is of
// the whole machine ("ERR", "MIS"): its count stands with the first CPU.
std::vector<InterruptLine> parse_interrupts(std::string_view text);
// The error is the file's; an empty file is one.
Result<std::vector<InterruptLine>> read_interrupts(const Root& root,
                                                   std::string_view path = "/proc/interrupts");

// Whether the label is the number of a device's interrupt; the others are the processor's and the kernel's own.
bool is_device_interrupt(std::string_view label);

}  // namespace howlate
