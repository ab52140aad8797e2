// What a load is to the rest of the probe. ONE FILE in this folder = ONE LOAD.
//
// A file `loads/memory-alloc.cpp` defines `extern const Load load_memory_alloc;`; the build lists the folder and generates the
// table. A load runs in a process of its own (`howlate-probe load NAME ...`), executed anew; a test's `--load` starts
// exactly that command.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.hpp"
#include "core/result.hpp"

namespace howlate {

// What a load reports of itself about once a second, as running totals since its start. Fixed-size records through a
// pipe, so that a test can read them without parsing.
struct LoadReport {
  std::int64_t time_ns;    // CLOCK_MONOTONIC
  std::int64_t cpu_ns;     // CPU time of all its processes, children that ended included
  std::int64_t units;      // work done, in the load's own unit (Load::unit): pages, bytes, messages, packets ...
  std::int64_t restarts;   // rounds begun (hackbench runs), 0 where it has none
};

struct Load {
  std::string_view name;     // "memory-alloc"
  std::string_view summary;  // one line
  std::string_view unit;     // of LoadReport::units: "pages", "B", "packets", "iterations"
  ParamSpec target;          // the word after the colon of NAME:TARGET: percent, rate, count or text
  std::span<const ParamSpec> params;  // its own options beside the common ones (cpus, policy, nice)
};

std::span<const Load* const> loads();
Result<const Load*> find_load(std::string_view name);

}  // namespace howlate
