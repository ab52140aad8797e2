// A stopped process: the measuring thread's work stops its own process (SIGSTOP), with all its threads, and a helper has it go on
// (SIGCONT). Before it stops, it has asked the kernel for the same signal at a later instant: it goes on even if nobody is left to
// send one.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "inject/helper.hpp"
#include "inject/work.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/posix_timer.hpp"
#include "sys/thread.hpp"

namespace howlate {

namespace {

constexpr std::int64_t look_again_ns = 50'000;
constexpr std::int64_t continue_again_ns = 2'000'000;        // where the signal came before the stop
constexpr std::int64_t kernel_continues_ns = 1'000'000'000;  // after the helper should have

class Stopped : public WorkRun {
 public:
  explicit Stopped(Root root) : root_(std::move(root)) {}

  Status begin(std::int64_t t0_ns) override {
    for (const auto& helper : helpers_)
      if (Status begun = helper->begin(t0_ns); !begun) return begun;
    return {};
  }

  Result<std::vector<MadeDelay>> end() override {
    if (Status ended = end_helpers(helpers_); !ended) return ended.error();
    if (abandoned_)
      return broken("the process that has the stopped one go on was itself stopped for more than a second",
                    "Measure again");
    return WorkRun::end();
  }

 protected:
  // On another CPU where there is one, so that the measuring one stays idle.
  Status prepare() override {
    if (plan_->lanes.size() != 1)
      return usage_error("a process can be stopped for one measuring thread only", "Give --cpus one CPU");
    const InjectLane& lane = plan_->lanes.front();
    const auto policy = policy_above(lane.policy);
    if (!policy) return policy.error();
    std::vector<int> others = plan_->allowed;
    others.erase(std::remove(others.begin(), others.end(), lane.cpu), others.end());
    const PlacedSpec spec{"inject/continue", others.empty() ? std::vector<int>{lane.cpu} : others, *policy};
    process_ = ::getpid();
    kernel_.emplace(SIGCONT);
    if (!kernel_->made())
      return not_possible("this kernel gives no timer that has a stopped process go on: " +
                          errno_text(errno));
    helpers_.push_back(std::make_unique<InjectHelper>());
    return helpers_.back()->start(spec, root_, [this](std::int64_t t0_ns) { let_go_on(t0_ns); });
  }

  void next_work() override {
    if (armed_) kernel_->arm(0);
    armed_ = false;
  }

  void hold(std::size_t /*lane*/, DelaySlot& slot, std::int64_t until_ns) override {
    if (abandoned_) return skip_delay(slot, monotonic_now_ns());
    const std::int32_t self = thread_number();
    const std::int64_t kernel_ns = until_ns + kernel_continues_ns;
    armed_ = kernel_->arm(kernel_ns) == 0;
    if (!armed_) return skip_delay(slot, monotonic_now_ns());
    slot.begin_ns.store(monotonic_now_ns(), std::memory_order_release);
    ::syscall(SYS_tgkill, process_, self, SIGSTOP);
    slot.over.store(1, std::memory_order_release);
    abandoned_ = slot.end_ns.load(std::memory_order_acquire) == 0 && monotonic_now_ns() >= kernel_ns;
  }

 private:
  // The helper's process.
  void let_go_on(std::int64_t t0_ns) {
    const InjectLane& lane = plan_->lanes.front();
    for (std::size_t index = 0; index < lane.delays.size(); ++index) {
      DelaySlot& slot = slots_.at(0, index);
      sleep_until_ns(t0_ns + lane.stagger_ns + lane.delays[index].begin_ns + lane.delays[index].size_ns);
      while (slot.begin_ns.load(std::memory_order_acquire) == 0) pause(look_again_ns);
      if (slot.unwanted.load(std::memory_order_relaxed) != 0) continue;
      const std::int64_t before_ns = monotonic_now_ns();
      do {
        ::kill(process_, SIGCONT);
        // Somewhere within that call, after its other threads, the measuring one can go on; where the call is
        // repeated, in any of them.
        const std::int64_t half_ns = (monotonic_now_ns() - before_ns + 1) / 2;
        slot.uncertainty_ns.store(half_ns, std::memory_order_relaxed);
        slot.end_ns.store(before_ns + half_ns, std::memory_order_release);
        for (std::int64_t waited_ns = 0;
             waited_ns < continue_again_ns && slot.over.load(std::memory_order_acquire) == 0;
             waited_ns += look_again_ns)
          pause(look_again_ns);
      } while (slot.over.load(std::memory_order_acquire) == 0);
    }
  }

  static void pause(std::int64_t for_ns) { sleep_until_ns(monotonic_now_ns() + for_ns); }

  Root root_;
  pid_t process_ = 0;
  std::optional<PosixTimer> kernel_;
  bool armed_ = false;
  bool abandoned_ = false;  // the helper did not have it go on
  std::vector<std::unique_ptr<InjectHelper>> helpers_;
};

Status available(const Root& /*root*/) {
  return {};
}

std::unique_ptr<InjectionRun> make(const Root& root) {
  return std::make_unique<Stopped>(root);
}

}  // namespace

extern const Injection injection_stopped;
const Injection injection_stopped = {
    .name = "stopped",
    .summary = "the measuring process is stopped (SIGSTOP) and a helper has it go on",
    .in_work = true,
    .available = available,
    .make = make,
};

}  // namespace howlate
