// Interrupts of the project's module howlate_irq (kmod/): a high-resolution timer in hard-interrupt context. The
// measuring thread waits in read() and takes its time stamp as the first thing when that comes back.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "howlate_abi.h"
#include "irq/source.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace howlate {

namespace {

constexpr std::uint32_t records_held = 8192;
constexpr std::size_t records_at_once = 64;

std::string release() {
  struct utsname name {};
  return ::uname(&name) == 0 ? name.release : "?";
}

// Why there is no device.
Error no_device(const Root& root) {
  if (!read_text(root.at("/proc/modules")))
    return not_possible("this kernel was built without modules, so howlate_irq cannot be loaded");
  if (read_text(root.at("/sys/module/module/parameters/sig_enforce")).value_or("N") == "Y")
    return not_possible("the module howlate_irq is not loaded, and this kernel takes signed modules only",
                        "Sign it (docs/kmod.md)");
  if (::access(root.at("/lib/modules/" + release() + "/build").c_str(), F_OK) != 0)
    return not_possible("the module howlate_irq is not loaded, and the headers to build it are not installed",
                        "Install linux-headers-" + release() + " and build it (docs/kmod.md)");
  return not_possible("the module howlate_irq is not loaded",
                      "Build it (docs/kmod.md) and call 'modprobe howlate_irq'");
}

class IrqModule : public IrqSource {
 public:
  explicit IrqModule(Root root) : root_(std::move(root)) {}

  Status set_up(const IrqPlan& plan) override {
    if (plan.period_ns < HOWLATE_IRQ_PERIOD_NS_MIN || plan.period_ns > HOWLATE_IRQ_PERIOD_NS_MAX)
      return usage_error("that period is not possible", "Choose --period from 10us to 1h");
    device_ = Fd(::open(root_.at(HOWLATE_IRQ_DEVICE).c_str(), O_RDONLY | O_CLOEXEC));
    if (device_.valid()) return {};
    const int error = errno;
    return not_possible("cannot open " HOWLATE_IRQ_DEVICE ": " + errno_text(error),
                        error == EPERM || error == EACCES ? "Run it as root" : "");
  }

  Status measure(const IrqPlan& plan, PointsThread& thread) override {
    if (const Status begun = begin(plan); !begun) return begun;
    const std::int64_t end_ns = plan.duration_ns > 0 ? monotonic_now_ns() + plan.duration_ns : INT64_MAX;
    Status status;
    if (plan.maximum_only) {
      IrqMaxima maxima;
      status = take(thread, [&](const howlate_irq_record& record, std::int64_t now_ns) {
        maxima.note(record.expiry_ns, record.handler_ns - record.expiry_ns, now_ns - record.expiry_ns);
        return maxima.interrupts < plan.interrupts && now_ns < end_ns;
      });
      if (maxima.interrupts > 0)
        thread.add(maxima.at_ns - thread.t0_ns(), maxima.irq_latency_ns, maxima.wake_latency_ns, 0);
    } else {
      std::uint64_t next = 0;
      status = take(thread, [&](const howlate_irq_record& record, std::int64_t now_ns) {
        for (; next < record.index && thread.more(now_ns); ++next) thread.missed();
        if (!thread.more(now_ns)) return false;
        ++next;
        thread.add(record.expiry_ns - thread.t0_ns(), record.handler_ns - record.expiry_ns,
                   now_ns - record.expiry_ns, 0);
        return thread.more(now_ns);
      });
    }
    ::ioctl(device_.get(), HOWLATE_IRQ_STOP);
    ::ioctl(device_.get(), HOWLATE_IRQ_ACCOUNT, &account_);
    return status;
  }

  void tell(PointsOutcomes& outcomes) const override {
    const auto figure = [&](const char* name, auto value) {
      outcomes.figures.emplace_back(name, static_cast<std::int64_t>(value));
    };
    figure("interrupts", account_.handled);
    figure("interrupts_missed", account_.missed);
    figure("records_lost", account_.lost);
    if (account_.handled > 0) figure("irq_latency_ns_max_of_all", account_.latency_ns_max);
  }

 private:
  Status begin(const IrqPlan& plan) {
    howlate_irq_start start{};
    start.version = HOWLATE_ABI_VERSION;
    start.records = records_held;
    start.period_ns = plan.period_ns;
    if (::ioctl(device_.get(), HOWLATE_IRQ_START, &start) == 0) return {};
    if (errno == EPROTONOSUPPORT)
      return not_possible("the module howlate_irq is of another version than this probe",
                          "Build and load the one that belongs to it (docs/kmod.md)");
    return broken("the module howlate_irq does not start: " + errno_text(errno));
  }

  // Every record, with the time stamp of its reader, until `each` says that it was the last or the run is stopped.
  template <class Each>
  Status take(PointsThread& thread, Each each) {
    howlate_irq_record records[records_at_once];
    while (!thread.stopped()) {
      const ssize_t got = ::read(device_.get(), records, sizeof records);
      const std::int64_t now_ns = monotonic_now_ns();
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        return broken("no record comes from " HOWLATE_IRQ_DEVICE ": " + errno_text(got < 0 ? errno : 0));
      for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof records[0]; ++i)
        if (!each(records[i], now_ns)) return {};
    }
    return {};
  }

  Root root_;
  Fd device_;
  howlate_irq_account account_{};
};

}  // namespace

Status irq_module_available(const Root& root) {
  if (::access(root.at(HOWLATE_IRQ_DEVICE).c_str(), F_OK) == 0) return {};
  return no_device(root);
}

std::unique_ptr<IrqSource> make_irq_module(const Root& root) {
  return std::make_unique<IrqModule>(root);
}

}  // namespace howlate
