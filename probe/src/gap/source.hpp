// Who watches for gaps that no task and no interrupt of the kernel explains. ONE FILE in this folder = ONE SOURCE.
#pragma once

#include <cstdint>
#include <memory>
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

class GapSource {
 public:
  GapSource() = default;
  GapSource(const GapSource&) = delete;
  GapSource& operator=(const GapSource&) = delete;
  virtual ~GapSource() = default;

  // In the main thread, before others are made.
  virtual Status set_up(const GapPlan& plan) = 0;
  // The threads that watch, or that wait for the kernel's own to do it.
  virtual std::vector<PointsThreadSpec> threads(const GapPlan& plan) = 0;
  // In the main thread, at the end: windows, gaps, the time that was watched.
  virtual void tell(PointsOutcomes& outcomes) const = 0;
};

Status gap_hwlat_available(const Root& root);
Status gap_spin_available(const Root& root);
std::unique_ptr<GapSource> make_gap_hwlat(const Root& root);
std::unique_ptr<GapSource> make_gap_spin(const Root& root);

}  // namespace howlate
