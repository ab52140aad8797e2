// Gaps that a real-time task sees, without the kernel's help: a thread on each CPU reads the CPU's counter without a
// pause, for `width` in each `window`. Interrupts of the kernel, non-maskable ones, a hypervisor and the firmware all
// look alike to it; a gap in which the kernel took the CPU for another task is told apart by its count of switches.
#include <sys/resource.h>

#include <memory>

#include "gap/source.hpp"
#include "sys/clock.hpp"
#include "sys/counter.hpp"

namespace howlate {

namespace {

constexpr int readings_between_looks = 1 << 13;
constexpr std::int64_t calibration_ns = 5'000'000;

std::int64_t switches() {
  struct rusage usage {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

// The counter's rate, from two readings beside the clock, the farther apart the better.
class Rate {
 public:
  Rate() : ticks_(read_counter()), ns_(monotonic_now_ns()) {
    while (monotonic_now_ns() - ns_ < calibration_ns) {
    }
    improve();
  }
  void improve() {
    ns_per_tick_ =
        static_cast<double>(monotonic_now_ns() - ns_) / static_cast<double>(read_counter() - ticks_);
  }
  [[nodiscard]] std::int64_t ns(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }
  [[nodiscard]] std::int64_t ticks(std::int64_t ns) const {
    return static_cast<std::int64_t>(static_cast<double>(ns) / ns_per_tick_);
  }

 private:
  std::int64_t ticks_, ns_;
  double ns_per_tick_ = 1;
};

// Of one thread.
struct Watched {
  std::int64_t windows = 0, with_gap = 0, gaps = 0, switched_out = 0, ns = 0;
};

class GapSpin : public GapRun {
 public:
  Status set_up(const GapPlan& plan) override {
    watched_.assign(plan.cpus.size(), {});
    return {};
  }

  std::vector<PointsThreadSpec> threads(const GapPlan& plan) override {
    std::vector<PointsThreadSpec> threads;
    for (std::size_t i = 0; i < plan.cpus.size(); ++i)
      threads.push_back({"gaps/" + std::to_string(plan.cpus[i]),
                         {plan.cpus[i]},
                         plan.policy,
                         true,
                         [this, plan, i](PointsThread& thread) {
                           watch(plan, plan.cpus[i], thread, watched_[i]);
                           return Status();
                         }});
    return threads;
  }

  void tell(PointsOutcomes& outcomes) const override {
    Watched all;
    for (const Watched& one : watched_) {
      all.windows += one.windows;
      all.with_gap += one.with_gap;
      all.gaps += one.gaps;
      all.switched_out += one.switched_out;
      all.ns += one.ns;
    }
    outcomes.figures.emplace_back("windows", all.windows);
    outcomes.figures.emplace_back("windows_with_gap", all.with_gap);
    outcomes.figures.emplace_back("gaps", all.gaps);
    outcomes.figures.emplace_back("gaps_switched_out", all.switched_out);
    outcomes.figures.emplace_back("watched_ns", all.ns);
    if (all.ns > 0)
      outcomes.figures.emplace_back("gaps_per_s",
                                    static_cast<double>(all.gaps) * 1e9 / static_cast<double>(all.ns));
  }

 private:
  static void watch(const GapPlan& plan, int cpu, PointsThread& thread, Watched& watched) {
    Rate rate;
    thread.rest_until_t0();
    std::int64_t begin_ns = monotonic_now_ns();
    while (thread.more(begin_ns)) {
      const std::int64_t before = watched.gaps;
      one_window(plan, cpu, thread, watched, rate);
      ++watched.windows;
      thread.looked();
      watched.with_gap += watched.gaps > before ? 1 : 0;
      const std::int64_t now_ns = monotonic_now_ns();
      watched.ns += now_ns - begin_ns;
      rate.improve();
      begin_ns += plan.window_ns;
      if (thread.more(now_ns) && begin_ns > now_ns) sleep_until_ns(begin_ns);
      begin_ns = monotonic_now_ns();
    }
  }

  static void one_window(const GapPlan& plan, int cpu, PointsThread& thread, Watched& watched,
                         const Rate& rate) {
    const std::int64_t threshold = rate.ticks(plan.threshold_ns);
    std::int64_t in_window = 0;
    std::int64_t switched = switches();
    std::int64_t last = read_counter();
    const std::int64_t end = last + rate.ticks(plan.width_ns);
    while (last < end) {
      for (int turn = 0; turn < readings_between_looks; ++turn) {
        const std::int64_t now = read_counter();
        if (now - last <= threshold) [[likely]] {
          last = now;
          continue;
        }
        const std::int64_t now_ns = monotonic_now_ns();
        if (!thread.more(now_ns)) return;
        const std::int64_t switched_now = switches();
        const bool out = switched_now != switched;
        switched = switched_now;
        watched.gaps += out ? 0 : 1;
        watched.switched_out += out ? 1 : 0;
        thread.add(now_ns - thread.t0_ns(), rate.ns(now - last), ++in_window, cpu,
                   out ? row_switched_out : 0);
        last = read_counter();
      }
      if (thread.stopped()) return;
    }
  }

  std::vector<Watched> watched_;
};

Status available(const Root&) {
  if (has_counter) return {};
  return not_possible("this CPU has no counter that a program may read");
}

std::unique_ptr<GapRun> make(const Root&) {
  return std::make_unique<GapSpin>();
}

}  // namespace

extern const GapSource gap_source_spin;
const GapSource gap_source_spin = {"spin", "a task that spins", true, available, make};

}  // namespace howlate
