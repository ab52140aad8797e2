// Interrupts of the kernel's timerlat tracer, which needs no module: its timer's handler and its own thread
// (SCHED_FIFO 95, in the kernel) on the chosen CPU. The kernel records both in a trace buffer; it is read after the
// last one, so that no reader disturbs. The measuring thread sleeps meanwhile.
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "irq/source.hpp"
#include "irq/timerlat_line.hpp"
#include "sys/clock.hpp"
#include "sys/tracer.hpp"

namespace howlate {

namespace {

constexpr std::int64_t period_ns_min = 100'000;
constexpr std::int64_t period_ns_max = 1'000'000'000;
constexpr std::int64_t bytes_of_interrupt = 128;  // two entries of the trace, generously
constexpr std::int64_t more_interrupts = 16;      // than asked for: the first ones come while it starts

class IrqTimerlat : public IrqRun {
 public:
  explicit IrqTimerlat(Root root) : root_(std::move(root)) {}

  Status set_up(const IrqPlan& plan) override {
    if (plan.period_ns < period_ns_min || plan.period_ns > period_ns_max || plan.period_ns % 1000 != 0)
      return usage_error("timerlat cannot have that period",
                         "Choose --period from 100us to 1s in whole microseconds, or --source module");
    auto tracer = Tracer::make("timerlat", root_, {plan.cpu});
    if (!tracer) return tracer.error();
    tracer_ = std::make_unique<Tracer>(std::move(*tracer));
    const std::int64_t warm = plan.warm_up_ns / plan.period_ns;
    const std::int64_t kib = (warm + plan.interrupts + more_interrupts) * bytes_of_interrupt / 1024 + 64;
    if (const Status set = tracer_->set("osnoise/cpus", std::to_string(plan.cpu)); !set) return set;
    if (const Status set = tracer_->set("osnoise/timerlat_period_us", std::to_string(plan.period_ns / 1000));
        !set)
      return set;
    for (const char* const stop : {"osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us"})
      if (const Status set = tracer_->set(stop, "0"); !set) return set;
    if (const Status set = tracer_->set_own("trace_clock", "mono"); !set) return set;
    return tracer_->set_own("buffer_size_kb", std::to_string(kib));
  }

  Status measure(const IrqPlan& plan, PointsThread& thread) override {
    if (const Status started = tracer_->start(); !started) return started;
    std::int64_t length_ns = (plan.interrupts + more_interrupts) * plan.period_ns;
    const bool timed = plan.duration_ns > 0 && plan.duration_ns < length_ns;
    if (timed) length_ns = plan.duration_ns;
    const std::int64_t end_ns = std::max(monotonic_now_ns(), thread.t0_ns()) + length_ns;
    while (!thread.stopped() && monotonic_now_ns() < end_ns) sleep_until_ns(end_ns);
    tracer_->stop();
    if (timed && !thread.stopped()) thread.ran_out_of_time();
    return plan.maximum_only ? keep_maxima(plan, thread) : keep_all(thread);
  }

  void tell(PointsOutcomes& outcomes) const override {
    outcomes.figures.emplace_back("interrupts", interrupts_);
    outcomes.figures.emplace_back("interrupts_without_thread", alone_);
  }

  [[nodiscard]] std::string_view woken() const override { return "fifo:95"; }

 private:
  // Each interrupt with the wake-up that came of it; `each` says whether another one is wanted.
  template <class Each>
  Status pairs(Each each) {
    std::optional<TimerlatLine> irq;
    bool more = true;
    return tracer_->each_line([&](std::string_view text) {
      const auto line = read_timerlat_line(text);
      if (!line || !more) return;
      if (line->irq) {
        if (irq) ++alone_;
        irq = line;
      } else if (irq && irq->number == line->number) {
        ++interrupts_;
        more = each(*irq, *line);
        irq.reset();
      }
    });
  }

  Status keep_all(PointsThread& thread) {
    std::int64_t next = -1;
    return pairs([&](const TimerlatLine& irq, const TimerlatLine& woken) {
      // --duration is over when the trace is read: what was recorded counts.
      if (thread.was_before_t0(irq.stamp_ns - irq.latency_ns)) return true;
      if (thread.rows() + thread.missed_points() >= thread.wanted()) return false;
      for (; next >= 0 && next < irq.number && thread.rows() + thread.missed_points() + 1 < thread.wanted();
           ++next)
        thread.missed();
      next = irq.number + 1;
      thread.add(irq.stamp_ns - irq.latency_ns - thread.t0_ns(), irq.latency_ns, woken.latency_ns, 0);
      return true;
    });
  }

  Status keep_maxima(const IrqPlan& plan, PointsThread& thread) {
    IrqMaxima maxima;
    const Status status = pairs([&](const TimerlatLine& irq, const TimerlatLine& woken) {
      if (thread.was_before_t0(irq.stamp_ns - irq.latency_ns)) return true;
      maxima.note(irq.stamp_ns - irq.latency_ns, irq.latency_ns, woken.latency_ns);
      return maxima.interrupts < plan.interrupts;
    });
    if (maxima.any())
      thread.add(maxima.at_ns - thread.t0_ns(), maxima.irq_latency_ns, maxima.wake_latency_ns, 0);
    return status;
  }

  Root root_;
  std::unique_ptr<Tracer> tracer_;
  std::int64_t interrupts_ = 0;
  std::int64_t alone_ = 0;
};

Status available(const Root& root) {
  const auto folder = tracing_with("timerlat", root);
  return folder ? Status() : Status(folder.error());
}

std::unique_ptr<IrqRun> make(const Root& root) {
  return std::make_unique<IrqTimerlat>(root);
}

}  // namespace

extern const IrqSource irq_source_timerlat;
const IrqSource irq_source_timerlat = {
    "timerlat", "the kernel's tracer, which needs no module and wakes a thread of the kernel", "", available,
    make};

}  // namespace howlate
