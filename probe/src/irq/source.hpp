// Where a test of interrupts has its interrupts from. ONE FILE in this folder = ONE SOURCE.
#pragma once

#include <cstdint>
#include <memory>
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
  std::int64_t warm_up = 0;      // with maximum_only: first interrupts that the maxima leave out
  bool maximum_only = false;     // one row at the end: the two maxima
  int cpu = 0;
};

class IrqSource {
 public:
  IrqSource() = default;
  IrqSource(const IrqSource&) = delete;
  IrqSource& operator=(const IrqSource&) = delete;
  virtual ~IrqSource() = default;

  // In the main thread, before others are made.
  virtual Status set_up(const IrqPlan& plan) = 0;
  // In the measuring thread: from the first interrupt to the last.
  virtual Status measure(const IrqPlan& plan, PointsThread& thread) = 0;
  // In the main thread, at the end: what is known beside the rows.
  virtual void tell(PointsOutcomes& outcomes) const = 0;
  // Who is woken, where that is not the measuring thread; "" where it is.
  [[nodiscard]] virtual std::string_view woken() const { return ""; }
};

// What the rows of a run come to where only the maxima are kept.
struct IrqMaxima {
  std::int64_t warm_up = 0;  // first interrupts that are left out
  std::int64_t interrupts = 0;
  std::int64_t irq_latency_ns = INT64_MIN;
  std::int64_t wake_latency_ns = INT64_MIN;
  std::int64_t at_ns = 0;  // the expiry of the second

  void note(std::int64_t expiry_ns, std::int64_t irq_ns, std::int64_t wake_ns) {
    if (++interrupts <= warm_up) return;
    if (irq_ns > irq_latency_ns) irq_latency_ns = irq_ns;
    if (wake_ns <= wake_latency_ns) return;
    wake_latency_ns = wake_ns;
    at_ns = expiry_ns;
  }
  [[nodiscard]] bool any() const { return interrupts > warm_up; }
};

// Why the source cannot be used here, or nothing.
Status irq_module_available(const Root& root);
Status irq_hpet_available(const Root& root);
Status irq_timerlat_available(const Root& root);
std::unique_ptr<IrqSource> make_irq_module(const Root& root);
std::unique_ptr<IrqSource> make_irq_hpet(const Root& root);
std::unique_ptr<IrqSource> make_irq_timerlat(const Root& root);

}  // namespace howlate
