// Interrupts of the project's module howlate_irq (kmod/): a high-resolution timer in hard-interrupt context. The
// measuring thread waits in read() and takes its time stamp as the first thing when that comes back.
#include <fcntl.h>

#include "irq/no_module.hpp"
#include "irq/records.hpp"

namespace howlate {

namespace {

struct Monotonic {
  [[nodiscard]] std::int64_t stamp() const { return monotonic_now_ns(); }
  [[nodiscard]] IrqTimes times(const howlate_irq_record& record, std::int64_t stamp) const {
    return {record.due, record.handled - record.due, stamp - record.due};
  }
};

class IrqModule : public IrqRun {
 public:
  explicit IrqModule(Root root) : root_(std::move(root)) {}

  Status set_up(const IrqPlan& /*plan*/) override {
    auto device = open_irq_device(root_.at(HOWLATE_IRQ_DEVICE), O_RDONLY);
    if (!device) return device.error();
    device_ = std::move(*device);
    return {};
  }

  Status measure(const IrqPlan& plan, PointsThread& thread) override {
    if (const Status begun = begin(plan); !begun) return begun;
    return take_irqs(device_.get(), plan, thread, Monotonic(), account_);
  }

  void tell(PointsOutcomes& outcomes) const override { tell_irqs(account_, outcomes); }

 private:
  Status begin(const IrqPlan& plan) {
    howlate_irq_start start{};
    start.version = HOWLATE_ABI_VERSION;
    start.records = irq_records_held;
    start.period_ns = plan.period_ns;
    if (::ioctl(device_.get(), HOWLATE_IRQ_START, &start) == 0) return {};
    return not_started(HOWLATE_IRQ_MODULE, errno);
  }

  Root root_;
  Fd device_;
  howlate_irq_account account_{};
};

Status available(const Root& root) {
  if (::access(root.at(HOWLATE_IRQ_DEVICE).c_str(), F_OK) == 0) return {};
  return no_module(HOWLATE_IRQ_MODULE, root);
}

std::unique_ptr<IrqRun> make(const Root& root) {
  return std::make_unique<IrqModule>(root);
}

}  // namespace

extern const IrqSource irq_source_module;
const IrqSource irq_source_module = {"module", "the module howlate_irq", HOWLATE_IRQ_MODULE, available, make};

}  // namespace howlate
