// Sources of gaps that no task and no interrupt of the kernel explains. ONE FILE in this folder = ONE SOURCE.
//
// A file `gap/spin.cpp` defines `extern const GapSource gap_source_spin;`; the build lists the folder and generates the table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "points/points.hpp"
#include "sys/root.hpp"

namespace howlate {

struct GapPlan {
  std::vector<int> cpus;
  SchedPolicy policy;
  std::int64_t threshold_ns = 0;
  std::int64_t window_ns = 0;  // a CPU is watched once in this time,
  std::int64_t width_ns = 0;   // for this long
  std::int64_t duration_ns = 0;
  bool each_cpu = false;  // all at once; else one after the other
};

// A source while it is used.
class GapRun {
 public:
  GapRun() = default;
  GapRun(const GapRun&) = delete;
  GapRun& operator=(const GapRun&) = delete;
  virtual ~GapRun() = default;

  // Called in the main thread, before others are made.
  virtual Status set_up(const GapPlan& plan) = 0;
  // The threads that watch, or that wait while the kernel's own thread does.
  virtual std::vector<PointsThreadSpec> threads(const GapPlan& plan) = 0;
  // Called in the main thread, at the end: windows, gaps, the time that was watched.
  virtual void tell(PointsOutcomes& outcomes) const = 0;
};

struct GapSource {
  std::string_view name;
  std::string_view summary;               // of --source's help
  bool spins;                             // it occupies the CPUs that it watches
  Status (*available)(const Root& root);  // why it cannot be used here, or nothing
  std::unique_ptr<GapRun> (*make)(const Root& root);
};

// Sorted by name.
std::span<const GapSource* const> gap_sources();
Result<const GapSource*> find_gap_source(std::string_view name);

}  // namespace howlate
