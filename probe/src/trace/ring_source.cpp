// The kernel's trace ring records, in an instance of our own.
#include <unistd.h>

#include "core/tick_times.hpp"
#include "sys/changes.hpp"
#include "sys/clock.hpp"
#include "sys/counter.hpp"
#include "sys/file.hpp"
#include "sys/kernel_symbols.hpp"
#include "sys/setting.hpp"
#include "sys/trace_instance.hpp"
#include "sys/trace_ring.hpp"
#include "sys/tracefs.hpp"
#include "trace/event_cost.hpp"
#include "trace/source.hpp"

namespace howlate {

namespace {

constexpr std::string_view counter_clock = "x86-tsc", usual_clock = "mono";
// A page's gaps of up to 134 ms are written in 27 bits: by so much an event after one may be too early.
constexpr double tick_ns_max = 1.0001;

class RingSource : public EventSource {
 public:
  RingSource(const Root& root, Tracefs tracefs, EventPlan plan)
      : root_(root), tracefs_(std::move(tracefs)), plan_(std::move(plan)), changes_(root) {}
  RingSource(const RingSource&) = delete;
  RingSource& operator=(const RingSource&) = delete;
  ~RingSource() override { give_back(); }

  [[nodiscard]] std::string_view name() const override { return "tracefs"; }
  [[nodiscard]] std::string_view clock() const override { return by_counter_ ? counter_clock : usual_clock; }
  [[nodiscard]] const EventPlan& plan() const override { return plan_; }
  Status set_up(const SourceSpec& spec) override;
  Status start() override {
    compare_clocks();
    return instance_->set("tracing_on", "1");
  }
  void stop() override {
    if (instance_) instance_->stop();
  }
  void end() override { give_back(); }
  bool read(int cpu, std::span<std::byte> page) override { return ring_ && ring_->read(cpu, page); }
  void compare_clocks() override;
  [[nodiscard]] const TickTimes* times() const override { return by_counter_ ? &times_ : nullptr; }

  [[nodiscard]] std::int64_t buffer_bytes() const override { return buffer_bytes_; }
  [[nodiscard]] std::optional<std::int64_t> event_cost_ns() const override { return event_cost_ns_; }
  [[nodiscard]] std::map<std::int64_t, std::string> ipi_texts() const override {
    return event_texts(tracefs_.folder());
  }

 private:
  Status size_ring(const SourceSpec& spec);
  Status choose_clock();
  [[nodiscard]] bool takes_clock(std::string_view name) const;
  void leave_names_out() const;
  void measure_cost(const SourceSpec& spec);
  void give_back();

  Root root_;
  Tracefs tracefs_;
  EventPlan plan_;
  Changes changes_;
  std::optional<TraceInstance> instance_;
  std::optional<TraceRing> ring_;
  bool by_counter_ = false;
  TickTimes times_;
  std::int64_t buffer_bytes_ = 0;
  std::optional<std::int64_t> event_cost_ns_;
};

Status RingSource::set_up(const SourceSpec& spec) {
  changes_.keep_away_from(spec.cpus);
  auto instance = TraceInstance::make(tracefs_.folder(), "howlate-" + std::to_string(::getpid()), changes_);
  if (!instance) return instance.error();
  instance_.emplace(std::move(*instance));
  if (const Status ring = size_ring(spec); !ring) return ring;
  measure_cost(spec);
  if (const Status mask = instance_->set("tracing_cpumask", cpu_mask(spec.cpus)); !mask) return mask;
  if (const Status on = enable_events(*instance_, plan_, spec.ours); !on) return on;
  if (spec.stacks)
    if (const Status on = enable_stacks(*instance_, plan_); !on) return on;
  auto ring = TraceRing::open(*instance_, spec.cpus);
  if (!ring) return ring.error();
  ring_.emplace(std::move(*ring));
  return {};
}

// A ring of the wanted size on the traced CPUs, and next to none on the others.
Status RingSource::size_ring(const SourceSpec& spec) {
  if (const Status set = instance_->set("buffer_size_kb", "4"); !set) return set;
  const std::string kib = std::to_string(spec.buffer_bytes / 1024);
  for (const int cpu : spec.cpus) {
    const std::string file = "per_cpu/cpu" + std::to_string(cpu) + "/buffer_size_kb";
    if (!instance_->set(file, kib))
      return not_possible(
          "the kernel gives no trace buffer of " + kib + " KiB for CPU " + std::to_string(cpu),
          "Give a smaller --explain-buffer");
    buffer_bytes_ = read_integer(instance_->path(file)).value_or(0) * 1024;
  }
  if (const Status clock = choose_clock(); !clock) return clock;
  leave_names_out();
  return {};
}

// The CPU's counter where the kernel's own clock is made of it: to read that alone takes an event 40 instructions less, and one cache
// line. Its times are made those of CLOCK_MONOTONIC when a page is kept.
Status RingSource::choose_clock() {
  by_counter_ = clock_source(root_) == "tsc" && takes_clock(counter_clock);
  if (by_counter_) {
    compare_clocks();
    sleep_until_ns(monotonic_now_ns() + TickTimes::apart_ns);
    compare_clocks();
    by_counter_ = times_.line_at(0).slope <= tick_ns_max;
  }
  if (by_counter_ || takes_clock(usual_clock)) return {};
  return not_possible("the kernel's trace does not take CLOCK_MONOTONIC as its clock");
}

bool RingSource::takes_clock(std::string_view name) const {
  if (!instance_->set("trace_clock", std::string(name))) return false;
  const auto clock = instance_->read("trace_clock");
  return clock && clock->find("[" + std::string(name) + "]") != std::string::npos;
}

// Of a few tries the one with the shortest distance between its readings of the counter.
void RingSource::compare_clocks() {
  if (!by_counter_) return;
  constexpr int tries = 10;
  const auto read = [] {
    const std::int64_t before = read_counter(), ns = monotonic_now_ns();
    return TickTimes::Reading{before, ns, read_counter()};
  };
  TickTimes::Reading best = read();
  for (int i = 1; i < tries && !times_.is_good(best); ++i)
    if (const TickTimes::Reading next = read(); next.apart() < best.apart()) best = next;
  times_.add(best);
}

// With events on the kernel also writes down the name of each task at each of its switches, for tables that nobody reads here. The
// option works for all instances at once, so it stays where another one has events on.
void RingSource::leave_names_out() const {
  const std::string folder = tracefs_.folder();
  if (read_text(folder + "/set_event").value_or("?") != "") return;
  for (const std::string& name : Root().list(folder + "/instances"))
    if (read_text(folder + "/instances/" + name + "/set_event").value_or("?") != "") return;
  static_cast<void>(instance_->set("trace_options", "norecord-cmd"));
}

void RingSource::measure_cost(const SourceSpec& spec) {
  constexpr const char* enable = "events/sched/sched_process_wait/enable";
  event_cost_ns_ = measure_event_cost(
      [&] { return instance_->set(enable, "1").ok() && instance_->set("tracing_on", "1").ok(); },
      spec.cost_cpus, spec.cost_policy, root_);
  instance_->stop();
  static_cast<void>(instance_->set(enable, "0"));
  static_cast<void>(instance_->set("trace", ""));  // empties the ring
}

void RingSource::give_back() {
  ring_.reset();
  if (instance_) instance_->stop();
  static_cast<void>(changes_.undo());
  instance_.reset();
}

}  // namespace

Result<std::unique_ptr<EventSource>> open_ring_source(const Root& root, ExplainEvents events) {
  auto tracefs = Tracefs::open(root);
  if (!tracefs) return tracefs.error();
  auto plan = plan_events(tracefs->folder(), events, root);
  if (!plan) return plan.error();
  return std::unique_ptr<EventSource>(
      std::make_unique<RingSource>(root, std::move(*tracefs), std::move(*plan)));
}

}  // namespace howlate
