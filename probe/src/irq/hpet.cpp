// Interrupts of a spare comparator of the HPET (x86), by the module howlate_hpet (kmod/); the HPET's counter is the clock, of the
// handler and, mapped, of the measuring thread, which waits in read(). The kernel's driver of /dev/hpet says which comparator is
// spare, and keeps it from others while it is open.
#include <fcntl.h>
#include <linux/hpet.h>
#include <sys/mman.h>

#include "irq/no_module.hpp"
#include "irq/records.hpp"
#include "sys/rights.hpp"

namespace howlate {

namespace {

constexpr const char* hpet_device = "/dev/hpet";
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t counter_at = 0xf0;
constexpr std::int64_t fs_of_ns = 1'000'000;

class HpetClock {
 public:
  void set(const volatile std::byte* registers, const howlate_hpet_start& start) {
    // The device's side sees each access: hence volatile.
    counter_ = reinterpret_cast<const volatile std::uint32_t*>(registers + counter_at);
    first_ = start.first;
    first_ns_ = start.first_ns;
    tick_fs_ = start.tick_fs;
  }
  [[nodiscard]] std::uint32_t stamp() const { return *counter_; }
  [[nodiscard]] std::int64_t ns(std::int64_t ticks) const {
    // Whole milliseconds' worth of ticks and the rest, so that nothing overflows in ten years.
    return ticks / fs_of_ns * tick_fs_ + ticks % fs_of_ns * tick_fs_ / fs_of_ns;
  }
  [[nodiscard]] IrqTimes times(const howlate_irq_record& record, std::uint32_t stamp) const {
    const auto woken = static_cast<std::int32_t>(stamp - static_cast<std::uint32_t>(record.due));
    return {first_ns_ + ns(record.due - first_), ns(record.handled - record.due), ns(woken)};
  }

 private:
  const volatile std::uint32_t* counter_ = nullptr;
  std::int64_t first_ = 0, first_ns_ = 0, tick_fs_ = 0;
};

class IrqHpet : public IrqRun {
 public:
  explicit IrqHpet(Root root) : root_(std::move(root)) {}
  ~IrqHpet() override {
    if (registers_ != MAP_FAILED) ::munmap(registers_, page_bytes);
  }

  Status set_up(const IrqPlan& plan) override {
    if (plan.period_ns < HOWLATE_HPET_PERIOD_NS_MIN || plan.period_ns > HOWLATE_HPET_PERIOD_NS_MAX)
      return usage_error("the HPET's comparator cannot have that period",
                         "Choose --period from 100us to 10s, or --source module");
    if (const Status taken = take_comparator(); !taken) return taken;
    registers_ = ::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, hpet_.get(), 0);
    if (registers_ == MAP_FAILED)
      return not_possible("the HPET's counter cannot be read by a task: " + errno_text(errno),
                          "Boot with hpet_mmap=1, or use --source module");
    auto device = open_irq_device(root_.at(HOWLATE_HPET_DEVICE), O_RDONLY);
    if (!device) return device.error();
    device_ = std::move(*device);
    return {};
  }

  Status measure(const IrqPlan& plan, PointsThread& thread) override {
    if (const Status begun = begin(plan); !begun) return begun;
    return take_irqs(device_.get(), plan, thread, clock_, account_);
  }

  void tell(PointsOutcomes& outcomes) const override {
    tell_irqs(account_, outcomes);
    outcomes.figures.emplace_back("hpet_tick_fs", static_cast<std::int64_t>(start_.tick_fs));
    outcomes.figures.emplace_back("hpet_comparator", static_cast<std::int64_t>(start_.comparator));
    outcomes.figures.emplace_back("hpet_line", static_cast<std::int64_t>(start_.line));
  }

 private:
  Status take_comparator() {
    hpet_ = Fd(::open(root_.at(hpet_device).c_str(), O_RDONLY | O_CLOEXEC));
    if (!hpet_.valid())
      return errno == EBUSY ? none_spare()
                            : not_possible("cannot open /dev/hpet: " + errno_text(errno), remedy_of_root());
    struct hpet_info info {};
    if (::ioctl(hpet_.get(), HPET_INFO, &info) != 0)
      return broken("/dev/hpet does not say which comparator it gave: " + errno_text(errno));
    if (info.hi_hpet != 0) return none_spare();
    start_.comparator = info.hi_timer;
    return {};
  }

  static Error none_spare() {
    return not_possible(
        "the HPET has no comparator that is spare: the kernel or another program uses all of them",
        "Use --source module");
  }

  Status begin(const IrqPlan& plan) {
    start_.version = HOWLATE_ABI_VERSION;
    start_.records = irq_records_held;
    start_.period_ns = plan.period_ns;
    start_.hpet = hpet_.get();
    if (::ioctl(device_.get(), HOWLATE_HPET_START, &start_) == 0) {
      clock_.set(static_cast<const volatile std::byte*>(registers_), start_);
      return {};
    }
    if (errno == EBUSY) return none_spare();
    if (errno == ENOSPC)
      return not_possible("the HPET's comparator can interrupt only by lines that devices use already",
                          "Use --source module");
    if (errno == ENODEV) return not_possible("the HPET is switched off", "Boot without hpet=disable");
    return not_started(HOWLATE_HPET_MODULE, errno);
  }

  Root root_;
  Fd hpet_, device_;
  void* registers_ = MAP_FAILED;
  HpetClock clock_;
  howlate_hpet_start start_{};
  howlate_irq_account account_{};
};

Status available(const Root& root) {
  if (::access(root.at(hpet_device).c_str(), F_OK) != 0)
    return not_possible("this machine's kernel has no /dev/hpet, the timer chip of PCs");
  if (::access(root.at(HOWLATE_HPET_DEVICE).c_str(), F_OK) == 0) return {};
  return no_module(HOWLATE_HPET_MODULE, root);
}

std::unique_ptr<IrqRun> make(const Root& root) {
  return std::make_unique<IrqHpet>(root);
}

}  // namespace

extern const IrqSource irq_source_hpet;
const IrqSource irq_source_hpet = {
    "hpet",
    "the module howlate_hpet on a spare comparator of the HPET (x86), with the HPET's counter as the clock",
    HOWLATE_HPET_MODULE, available, make};

}  // namespace howlate
