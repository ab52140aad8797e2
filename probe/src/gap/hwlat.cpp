// Gaps that the kernel's hwlat tracer sees: a thread of the kernel holds a CPU with its interrupts off and reads the
// clock; what it misses is not the kernel's doing. It tells at most one line a window: the longest gap, and how many.
#include <cstdlib>

#include "gap/hwlat_line.hpp"
#include "gap/source.hpp"
#include "sys/clock.hpp"
#include "sys/tracer.hpp"

namespace howlate {

namespace {

std::string microseconds(std::int64_t ns) {
  return std::to_string(ns / 1000);
}

std::int64_t realtime_minus_monotonic_ns() {
  struct timespec now {};
  const std::int64_t before_ns = monotonic_now_ns();
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now) - (before_ns + monotonic_now_ns()) / 2;
}

class GapHwlat : public GapRun {
 public:
  explicit GapHwlat(Root root) : root_(std::move(root)) {}

  Status set_up(const GapPlan& plan) override {
    auto tracer = Tracer::make("hwlat", root_, plan.cpus);
    if (!tracer) return tracer.error();
    tracer_ = std::make_unique<Tracer>(std::move(*tracer));
    if (const Status set = set_window(plan); !set) return set;
    if (const Status set = tracer_->set("tracing_thresh", microseconds(plan.threshold_ns)); !set) return set;
    const bool has_mode = tracer_->read("hwlat_detector/mode").has_value();
    if (!has_mode && plan.each_cpu)
      return not_possible("this kernel's hwlat watches one CPU after the other", "Leave --each-cpu out");
    if (has_mode)
      if (const Status set = tracer_->set("hwlat_detector/mode", plan.each_cpu ? "per-cpu" : "round-robin");
          !set)
        return set;
    if (const Status set = tracer_->set_own("tracing_cpumask", cpu_mask_text(plan.cpus)); !set) return set;
    return {};
  }

  std::vector<PointsThreadSpec> threads(const GapPlan& plan) override {
    return {{"gaps", plan.cpus, plan.policy, true,
             [this, plan](PointsThread& thread) { return wait(plan, thread); }}};
  }

  void tell(PointsOutcomes& outcomes) const override {
    outcomes.figures.emplace_back("windows", windows_);
    outcomes.figures.emplace_back("windows_with_gap", with_gap_);
    outcomes.figures.emplace_back("gaps", gaps_);
    outcomes.figures.emplace_back("watched_ns", watched_ns_);
    if (watched_ns_ > 0)
      outcomes.figures.emplace_back("gaps_per_s",
                                    static_cast<double>(gaps_) * 1e9 / static_cast<double>(watched_ns_));
  }

 private:
  // The width is never above the window, in between neither.
  Status set_window(const GapPlan& plan) {
    const std::pair<const char*, std::string> window{"hwlat_detector/window", microseconds(plan.window_ns)};
    const std::pair<const char*, std::string> width{"hwlat_detector/width", microseconds(plan.width_ns)};
    const auto now = tracer_->read(width.first);
    const bool wider = now && std::strtoll(now->c_str(), nullptr, 10) * 1000 > plan.window_ns;
    for (const auto& [file, value] : {wider ? width : window, wider ? window : width})
      if (const Status set = tracer_->set(file, value); !set) return set;
    return {};
  }

  Status wait(const GapPlan& plan, PointsThread& thread) {
    thread.rest_until_t0();
    const std::int64_t offset_ns = realtime_minus_monotonic_ns();
    if (const Status started = tracer_->start(); !started) return started;
    const std::int64_t begin_ns = monotonic_now_ns();
    std::int64_t now_ns = begin_ns;
    Status read;
    for (std::int64_t lines = 0; read && thread.more(now_ns) && lines < thread.wanted();) {
      sleep_until_ns(now_ns + plan.window_ns);
      now_ns = monotonic_now_ns();
      thread.looked();
      lines = 0;
      read = tracer_->each_line([&](std::string_view line) { lines += read_hwlat_line(line) ? 1 : 0; });
    }
    tracer_->stop();
    const auto cpus = static_cast<std::int64_t>(plan.each_cpu ? plan.cpus.size() : 1);
    windows_ = (now_ns - begin_ns) / plan.window_ns * cpus;
    watched_ns_ = windows_ * plan.width_ns;
    if (!read) return read;
    return tracer_->each_line([&](std::string_view text) {
      const auto line = read_hwlat_line(text);
      if (!line) return;
      ++with_gap_;
      gaps_ += line->count;
      if (thread.rows() < thread.wanted())
        thread.add(line->realtime_ns - offset_ns - thread.t0_ns(), line->gap_ns(), line->count, line->cpu, 0);
    });
  }

  Root root_;
  std::unique_ptr<Tracer> tracer_;
  std::int64_t windows_ = 0, with_gap_ = 0, gaps_ = 0, watched_ns_ = 0;
};

Status available(const Root& root) {
  const auto folder = tracing_with("hwlat", root);
  return folder ? Status() : Status(folder.error());
}

std::unique_ptr<GapRun> make(const Root& root) {
  return std::make_unique<GapHwlat>(root);
}

}  // namespace

extern const GapSource gap_source_hwlat;
const GapSource gap_source_hwlat = {"hwlat", "the kernel's tracer", false, available, make};

}  // namespace howlate
