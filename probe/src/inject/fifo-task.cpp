// A process of its own, above the measuring thread and on its CPU.
#include "inject/helper.hpp"
#include "inject/slots.hpp"
#include "sys/clock.hpp"

namespace howlate {

namespace {

class FifoTask : public InjectionRun {
 public:
  explicit FifoTask(Root root) : root_(std::move(root)) {}

  Status set_up(const InjectPlan& plan) override {
    plan_ = &plan;
    if (Status made = slots_.make(plan); !made) return made;
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      const auto policy = policy_above(plan.lanes[lane].policy);
      if (!policy) return policy.error();
      helpers_.push_back(std::make_unique<InjectHelper>());
      const PlacedSpec spec{"inject/task", {plan.lanes[lane].cpu}, *policy};
      Status started =
          helpers_.back()->start(spec, root_, [this, lane](std::int64_t t0_ns) { delay(lane, t0_ns); });
      if (!started) return started;
    }
    return {};
  }

  Status begin(std::int64_t t0_ns) override {
    for (const auto& helper : helpers_)
      if (Status begun = helper->begin(t0_ns); !begun) return begun;
    return {};
  }

  Result<std::vector<MadeDelay>> end() override {
    if (Status ended = end_helpers(helpers_); !ended) return ended.error();
    return slots_.made(*plan_);
  }

 private:
  void delay(std::size_t lane, std::int64_t t0_ns) {
    const InjectLane& of = plan_->lanes[lane];
    const auto pid = static_cast<std::int32_t>(::getpid());
    for (std::size_t index = 0; index < of.delays.size(); ++index) {
      const PlannedDelay& one = of.delays[index];
      DelaySlot& slot = slots_.at(lane, index);
      slot.pid.store(pid, std::memory_order_relaxed);
      sleep_until_ns(t0_ns + of.stagger_ns + one.begin_ns);
      const std::int64_t begin_ns = monotonic_now_ns();
      std::int64_t now_ns = begin_ns;
      while (now_ns < begin_ns + one.size_ns) now_ns = monotonic_now_ns();
      slot.end_ns.store(now_ns, std::memory_order_relaxed);
      slot.begin_ns.store(begin_ns, std::memory_order_release);
    }
  }

  Root root_;
  const InjectPlan* plan_ = nullptr;
  LaneSlots slots_;
  std::vector<std::unique_ptr<InjectHelper>> helpers_;
};

// Whether it may be above the measuring thread is asked when that is known.
Status available(const Root& root) {
  return may_have_policy({.kind = SchedKind::fifo, .priority = 95}, root);
}

std::unique_ptr<InjectionRun> make(const Root& root) {
  return std::make_unique<FifoTask>(root);
}

}  // namespace

extern const Injection injection_fifo_task;
const Injection injection_fifo_task = {
    .name = "fifo-task",
    .summary = "a process of higher priority on the same CPU",
    .available = available,
    .make = make,
};

}  // namespace howlate
