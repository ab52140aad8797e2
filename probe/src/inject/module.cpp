#include "inject/module.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "inject/helper.hpp"
#include "inject/slots.hpp"
#include "irq/no_module.hpp"
#include "sys/file.hpp"

namespace howlate {

namespace {

// What a handler or a thread may need beyond the length, to look at the clock once more.
constexpr std::int64_t overshoot_ns = 20'000;

class InKernel : public InjectionRun {
 public:
  InKernel(Root root, howlate_inject_kind kind) : root_(std::move(root)), kind_(kind) {}

  Status set_up(const InjectPlan& plan) override {
    late_ns_ = overshoot_ns + plan.round_ns;
    auto device = open_irq_device(root_.at(HOWLATE_INJECT_DEVICE), O_RDONLY);
    if (!device) return device.error();
    device_ = std::move(*device);
    for (const InjectLane& lane : plan.lanes)
      for (const PlannedDelay& one : lane.delays)
        delays_.push_back({lane.stagger_ns + one.begin_ns, one.size_ns, static_cast<__u32>(kind_),
                           static_cast<__u32>(lane.cpu)});
    if (delays_.empty()) return {};
    if (delays_.size() > HOWLATE_INJECT_DELAYS_MAX)
      return usage_error("the module makes at most 1048576 delays at a time", "Give a larger --inject-every");
    std::sort(delays_.begin(), delays_.end(),
              [](const auto& left, const auto& right) { return left.begin_ns < right.begin_ns; });
    howlate_inject_load load{HOWLATE_ABI_VERSION, static_cast<__u32>(delays_.size()),
                             reinterpret_cast<std::uintptr_t>(delays_.data()), plan.round_ns};
    if (::ioctl(device_.get(), HOWLATE_INJECT_LOAD, &load) != 0)
      return not_started(HOWLATE_INJECT_MODULE, errno);
    return kind_ == HOWLATE_INJECT_THREAD ? raise_threads(plan) : Status();
  }

  Status begin(std::int64_t t0_ns) override {
    __s64 origin = t0_ns;
    if (delays_.empty() || ::ioctl(device_.get(), HOWLATE_INJECT_START, &origin) == 0) return {};
    return not_started(HOWLATE_INJECT_MODULE, errno);
  }

  Result<std::vector<MadeDelay>> end() override {
    std::vector<MadeDelay> made;
    if (delays_.empty()) return made;
    if (::ioctl(device_.get(), HOWLATE_INJECT_STOP) != 0)
      return broken("the module " HOWLATE_INJECT_MODULE " does not stop: " + errno_text(errno));
    std::vector<howlate_inject_record> records(delays_.size());
    const std::size_t bytes = records.size() * sizeof records[0];
    if (::read(device_.get(), records.data(), bytes) != static_cast<ssize_t>(bytes))
      return broken("the module " HOWLATE_INJECT_MODULE " gives no records: " + errno_text(errno));
    for (std::size_t i = 0; i < records.size(); ++i)
      if (records[i].state != 0) made.push_back(made_of(records[i]));
    sort_made(made);
    return made;
  }

 private:
  // Above each measuring thread, the kernel thread of its CPU.
  Status raise_threads(const InjectPlan& plan) {
    for (const InjectLane& lane : plan.lanes) {
      if (lane.delays.empty()) continue;
      howlate_inject_thread thread{static_cast<__u32>(lane.cpu), 0};
      if (::ioctl(device_.get(), HOWLATE_INJECT_FIND_THREAD, &thread) != 0)
        return not_started(HOWLATE_INJECT_MODULE, errno);
      const auto policy = policy_above(lane.policy);
      if (!policy) return policy.error();
      if (Status raised = set_policy(*policy, root_, thread.pid); !raised) return raised;
    }
    return {};
  }

  [[nodiscard]] MadeDelay made_of(const howlate_inject_record& record) const {
    const bool as_wanted =
        record.state == HOWLATE_INJECT_MADE && record.end_ns - record.begin_ns <= record.wanted_ns + late_ns_;
    return {record.begin_ns, record.end_ns, record.wanted_ns, static_cast<int>(record.cpu),
            record.pid,      as_wanted};
  }

  Root root_;
  howlate_inject_kind kind_;
  Fd device_;
  std::vector<howlate_inject_delay> delays_;
  std::int64_t late_ns_ = 0;  // so much longer than wanted may a delay be
};

}  // namespace

Status inject_module_there(const Root& root) {
  if (::access(root.at(HOWLATE_INJECT_DEVICE).c_str(), F_OK) == 0) return {};
  return no_module(HOWLATE_INJECT_MODULE, root, HOWLATE_INJECT_ACCEPTED);
}

std::unique_ptr<InjectionRun> make_in_kernel(const Root& root, howlate_inject_kind kind) {
  return std::make_unique<InKernel>(root, kind);
}

}  // namespace howlate
