// Sources of interrupts for a test. ONE FILE in this folder = ONE SOURCE.
//
// A file `irq/hpet.cpp` defines `extern const IrqSource irq_source_hpet;`; the build lists the folder and generates the table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "points/points.hpp"
#include "sys/root.hpp"

namespace howlate {

struct IrqPlan {
  std::int64_t period_ns = 0;
  std::int64_t interrupts = 0;
  std::int64_t duration_ns = 0;  // 0: until the interrupts are there
  std::int64_t warm_up_ns = 0;   // before these: interrupts that are no rows
  bool maximum_only = false;     // one row at the end: the two maxima
  int cpu = 0;
};

// A source while it is used.
class IrqRun {
 public:
  IrqRun() = default;
  IrqRun(const IrqRun&) = delete;
  IrqRun& operator=(const IrqRun&) = delete;
  virtual ~IrqRun() = default;

  // Called in the main thread, before others are made.
  virtual Status set_up(const IrqPlan& plan) = 0;
  // Called in the measuring thread: from the first interrupt to the last.
  virtual Status measure(const IrqPlan& plan, PointsThread& thread) = 0;
  // Called in the main thread, at the end: the outcomes beside the rows.
  virtual void tell(PointsOutcomes& outcomes) const = 0;
  // The woken task, if it is not the measuring thread; otherwise "".
  [[nodiscard]] virtual std::string_view woken() const { return ""; }
};

// The maxima of a run that keeps only these.
struct IrqMaxima {
  std::int64_t interrupts = 0;
  std::int64_t irq_latency_ns = INT64_MIN;
  std::int64_t wake_latency_ns = INT64_MIN;
  std::int64_t at_ns = 0;  // the expiry of the second

  void note(std::int64_t expiry_ns, std::int64_t irq_ns, std::int64_t wake_ns) {
    ++interrupts;
    if (irq_ns > irq_latency_ns) irq_latency_ns = irq_ns;
    if (wake_ns <= wake_latency_ns) return;
    wake_latency_ns = wake_ns;
    at_ns = expiry_ns;
  }
  [[nodiscard]] bool any() const { return interrupts > 0; }
};

struct IrqSource {
  std::string_view name;
  std::string_view summary;               // of --source's help
  std::string_view module;                // that it needs, or ""
  Status (*available)(const Root& root);  // why it cannot be used here, or nothing
  std::unique_ptr<IrqRun> (*make)(const Root& root);
};

// Sorted by name.
std::span<const IrqSource* const> irq_sources();
Result<const IrqSource*> find_irq_source(std::string_view name);

}  // namespace howlate
