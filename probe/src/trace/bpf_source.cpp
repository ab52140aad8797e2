// BPF programs record: one on each of the kernel's tracepoints, into arrays that this process maps. Nothing is left of them when its
// descriptors are closed, however it ends.
#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "core/btf.hpp"
#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/bpf.hpp"
#include "sys/clock.hpp"
#include "sys/kernel_symbols.hpp"
#include "sys/thread.hpp"
#include "sys/tracefs.hpp"
#include "trace/bpf_program.hpp"
#include "trace/bpf_ring.hpp"
#include "trace/event_cost.hpp"
#include "trace/source.hpp"

namespace howlate {

namespace {

#if defined(__x86_64__)
constexpr BpfMachine this_machine = BpfMachine::x86_64;
#elif defined(__aarch64__)
constexpr BpfMachine this_machine = BpfMachine::arm64;
#else
constexpr BpfMachine this_machine = BpfMachine::other;
#endif

// The vectors of x86 that have events of their own, in the order in which the kernel's folder of events lists them.
constexpr std::string_view own_vectors[] = {
    "call_function", "call_function_single", "deferred_error_apic", "error_apic",
    "irq_work",      "local_timer",          "reschedule",          "spurious_apic",
    "thermal_apic",  "threshold_apic",       "x86_platform_ipi"};

struct Release {
  int major = 0, minor = 0;
  friend auto operator<=>(const Release&, const Release&) = default;
};
// Older ones lack one or another of a helper, an atomic operation and their compiler's support, or were never tried.
constexpr Release oldest{6, 1};
// From here on x86 numbers the bits of thread_info.flags as all machines shall; when arm64 does was not looked at.
constexpr Release generic_bits{6, 18}, lazy_bits{6, 12};
// Of the RT kernels before that.
constexpr std::uint32_t lazy_bit_before = 6;
// From here on the idle loop comes back with interrupts off.
constexpr Release idle_irqs_off{6, 3};

Release this_release() {
  utsname name{};
  ::uname(&name);
  Release release;
  const auto parts = parts_of(name.release, '.');
  if (!parts.empty()) release.major = static_cast<int>(to_integer(parts[0]).value_or(0));
  if (parts.size() > 1) {
    const std::string& minor = parts[1];
    release.minor =
        static_cast<int>(to_integer(minor.substr(0, minor.find_first_not_of("0123456789"))).value_or(0));
  }
  return release;
}

// TIF_NEED_RESCHED and its lazy sister are macros, of which BTF knows nothing; what the trace says of them is in its enumeration.
BpfReading reading_of(const Btf& btf, const BpfTask& task, const Root& root) {
  const Release release = this_release();
  const auto flag = [&](std::string_view name, std::uint32_t otherwise) {
    return static_cast<std::uint8_t>(
        btf.enumerator("trace_flag_type", "TRACE_FLAG_" + std::string(name)).value_or(otherwise));
  };
  BpfReading reading;
  reading.resched_flag = flag("NEED_RESCHED", reading.resched_flag);
  reading.preempt_resched_flag = flag("PREEMPT_RESCHED", reading.preempt_resched_flag);
  reading.bottom_halves_flag = flag("BH_OFF", 0);
  reading.count_has_resched = this_machine == BpfMachine::x86_64;
  reading.resched_bit = this_machine != BpfMachine::x86_64 ? 1 : release >= generic_bits ? 4 : 3;
  if (this_machine == BpfMachine::x86_64) {
    reading.lazy_flag = flag("NEED_RESCHED_LAZY", 0);
    reading.lazy_bit = release >= lazy_bits ? reading.resched_bit + 1 : lazy_bit_before;
  }
  reading.softirq_in_task = task.softirq.has_value();
  const auto driver = root.read_text("/sys/devices/system/cpu/cpuidle/current_driver");
  reading.idle_ends_with_irqs_on = release < idle_irqs_off && (!driver || *driver == "none");
  return reading;
}

// One for each CPU that can ever be here: programs run on those that are not traced, too.
std::uint32_t counters_needed(const Root& root) {
  constexpr std::uint32_t most = 8192;  // CPUs of a kernel
  const auto text = root.read_text("/sys/devices/system/cpu/possible");
  const auto cpus = text ? parse_cpu_list(*text) : Result<std::vector<int>>(broken("unknown"));
  if (!cpus || cpus->empty()) return most;
  return std::bit_ceil(static_cast<std::uint32_t>(cpus->back()) + 1);
}
// 0 stands for none.
constexpr std::uint32_t first_place = 1;

// How many timers may expire on a CPU before the search for its variables is given up, and how far apart they are.
constexpr int timers_to_find = 1000;
constexpr std::int64_t timer_to_find_ns = 50'000;

// A deadline task may not be bound to a CPU; whoever may have one may have this.
SchedPolicy policy_to_find(const SchedPolicy& measuring) {
  return measuring.kind == SchedKind::deadline ? SchedPolicy{SchedKind::fifo, 99} : measuring;
}

BpfCounter* counter_of(const BpfArray& counters) {
  return reinterpret_cast<BpfCounter*>(counters.memory().data());
}

// What the kernel's answer to one program says of them all.
Error explained(Error why) {
  if (why.message.find("kernel symbol") != std::string::npos)
    return not_possible("the kernel does not say where its variables are (CONFIG_KALLSYMS_ALL is off)", "");
  return why;
}

class BpfSource : public EventSource {
 public:
  BpfSource(const Root& root, ExplainEvents events, std::shared_ptr<const Btf> btf, const BpfTask& task)
      : root_(root),
        events_(events),
        btf_(std::move(btf)),
        task_(task),
        reading_(reading_of(*btf_, task_, root)) {
    make_plan();
  }
  BpfSource(const BpfSource&) = delete;
  BpfSource& operator=(const BpfSource&) = delete;
  ~BpfSource() override { give_back(); }

  [[nodiscard]] std::string_view name() const override { return "bpf"; }
  [[nodiscard]] std::string_view clock() const override { return "mono"; }
  [[nodiscard]] const EventPlan& plan() const override { return plan_; }
  Status set_up(const SourceSpec& spec) override;
  Status start() override;
  void stop() override { links_.clear(); }
  void end() override { give_back(); }
  bool read(int cpu, std::span<std::byte> page) override { return ring_ && ring_->read(cpu, page); }
  [[nodiscard]] bool blocked(int cpu) const override { return ring_ && ring_->blocked(cpu); }

  [[nodiscard]] std::int64_t buffer_bytes() const override {
    return std::int64_t{records_} * bpf_record_bytes;
  }
  [[nodiscard]] std::optional<std::int64_t> event_cost_ns() const override { return event_cost_ns_; }
  [[nodiscard]] std::int64_t missed() const override;
  [[nodiscard]] std::map<std::int64_t, std::string> ipi_texts() const override {
    const auto tracefs = Tracefs::open(root_);
    return tracefs ? event_texts(tracefs->folder()) : std::map<std::int64_t, std::string>();
  }

  // Whether the kernel takes such programs: loads each, and lets it go. What every event is told with is as in the first of these that
  // it takes.
  Status try_programs(const std::vector<BpfTask>& tasks);
  [[nodiscard]] const BpfTask& task() const { return task_; }

 private:
  void make_plan();
  // Of the event whose cost is measured: none of the plan's, so that no row is made of it.
  [[nodiscard]] std::uint8_t cost_number() const { return static_cast<std::uint8_t>(plan_.events.size()); }
  bool add_event(std::string_view system, std::string_view name, EventTask whose);
  Status make_arrays(const std::vector<int>& cpus, std::int64_t buffer_bytes);
  [[nodiscard]] BpfPlace place_of(std::uint8_t number) const;
  Status try_each();
  Result<Fd> load_finder() const;
  Status find_counts(const SourceSpec& spec);
  [[nodiscard]] std::uint64_t timers_at(int cpu) const;
  Status find_each(const std::vector<int>& cpus);
  Result<Fd> load(std::string_view name, std::uint8_t number, const BpfFilter& filter) const;
  [[nodiscard]] BpfFilter filter_of(const TracedEvent& event, const std::vector<pid_t>& ours) const;
  Status measure(const SourceSpec& spec);
  void give_back();

  Root root_;
  ExplainEvents events_;
  std::shared_ptr<const Btf> btf_;
  BpfTask task_;
  BpfReading reading_;
  EventPlan plan_;
  std::uint32_t records_ = 0, cpus_ = 0;
  std::optional<BpfArray> counters_, all_records_;
  std::vector<Fd> programs_, links_;
  std::optional<BpfRing> ring_;
  std::optional<std::int64_t> event_cost_ns_;
};

void BpfSource::make_plan() {
  plan_.layout = BpfRing::layout;
  for (const EventSpec& spec : event_specs()) {
    if (spec.from == ExplainEvents::all && events_ != ExplainEvents::all) continue;
    if (!add_event(spec.system, spec.name, spec.whose)) plan_.absent.emplace_back(spec.name);
  }
  bool any = false;
  for (const std::string_view vector : own_vectors)
    for (const char* const end : {"_entry", "_exit"})
      if (const std::string name = std::string(vector) + end; is_wanted_vector(name, events_))
        any = add_event(irq_vectors, name, EventTask::anybody) || any;
  if (!any) plan_.absent.emplace_back(irq_vectors);
}

bool BpfSource::add_event(std::string_view system, std::string_view name, EventTask whose) {
  if (!make_bpf_program(name, *btf_, task_, {}, {})) return false;
  TracedEvent event{std::string(system), std::string(name), whose, {}, {}};
  event.format = bpf_format(name, static_cast<int>(plan_.events.size()) + 1);
  event.values = bpf_fields(event.format);
  plan_.events.push_back(std::move(event));
  return true;
}

Status BpfSource::make_arrays(const std::vector<int>& cpus, std::int64_t buffer_bytes) {
  records_ = std::bit_floor(static_cast<std::uint32_t>(buffer_bytes / bpf_record_bytes));
  std::vector<std::string> names;
  for (const TracedEvent& event : plan_.events) names.push_back(event.name);
  names.emplace_back(bpf_cost_event);
  ring_.emplace(std::move(names), records_);
  cpus_ = counters_needed(root_);
  auto counters = BpfArray::make(1, cpus_ * sizeof(BpfCounter));
  if (!counters) return counters.error();
  auto records =
      BpfArray::make(first_place + static_cast<std::uint32_t>(cpus.size()) * records_, bpf_record_bytes);
  if (!records) return records.error();
  auto* const counter = counter_of(*counters);
  auto* record = reinterpret_cast<BpfRecord*>(records->memory().data()) + first_place;
  std::uint32_t place = first_place;
  for (const int cpu : cpus) {
    counter[cpu] = {.place = place};
    ring_->add(cpu, counter[cpu], {record, records_});
    record += records_;
    place += records_;
  }
  counters_.emplace(std::move(*counters));
  all_records_.emplace(std::move(*records));
  return {};
}

BpfPlace BpfSource::place_of(std::uint8_t number) const {
  return {counters_->fd(), all_records_->fd(), cpus_, records_, number, this_machine != BpfMachine::x86_64};
}

Result<Fd> BpfSource::load(std::string_view name, std::uint8_t number, const BpfFilter& filter) const {
  const auto program = make_bpf_program(name, *btf_, task_, filter, place_of(number));
  if (!program) return not_possible("this kernel has no tracepoint " + std::string(name));
  return load_bpf(std::string(name), program->code, program->tracepoint);
}

BpfFilter BpfSource::filter_of(const TracedEvent& event, const std::vector<pid_t>& ours) const {
  BpfFilter filter;
  if (event.whose != EventTask::anybody) filter = {ours, event.whose == EventTask::while_ours, {}};
  if (event.name.starts_with("irq_handler_") && events_ != ExplainEvents::all)
    filter.not_irqs = own_timer_irqs(root_);
  const bool has_event = std::any_of(plan_.events.begin(), plan_.events.end(),
                                     [](const TracedEvent& one) { return one.name == "local_timer_entry"; });
  filter.tells_now = !has_event || timer_has_no_event(root_);
  return filter;
}

Status BpfSource::try_programs(const std::vector<BpfTask>& tasks) {
  constexpr std::int64_t little = 1024;
  if (const Status made = make_arrays({0}, little); !made) return made;
  std::optional<Error> refused;
  for (const BpfTask& one : tasks) {
    task_ = one;
    const Status tried = try_each();
    if (tried) {
      give_back();
      return {};
    }
    if (!refused)
      refused = tried.error();
    else if (one.preempt.way == BpfPreempt::CountSource::address)
      refused->message += "; by its address: " + tried.error().message;
  }
  give_back();
  return *refused;
}

Status BpfSource::try_each() {
  if (task_.preempt.way == BpfPreempt::CountSource::address)
    if (const auto finder = load_finder(); !finder) return finder.error();
  std::vector<std::string_view> names{bpf_cost_event};
  for (const TracedEvent& event : plan_.events) names.push_back(event.name);
  for (const std::string_view name : names)
    if (const auto program = load(name, 0, {}); !program) return explained(program.error());
  return {};
}

Result<Fd> BpfSource::load_finder() const {
  const auto program = make_bpf_finder(*btf_, place_of(0));
  if (!program) return not_possible("the kernel's description of its types (BTF) has no timers of a CPU");
  return load_bpf("find_timers", program->code, program->tracepoint);
}

// Where the preemption count of each traced CPU is: behind its timers, which a program tells of when one expires there.
Status BpfSource::find_counts(const SourceSpec& spec) {
  const auto finder = load_finder();
  if (!finder) return finder.error();
  const auto link = attach_bpf(*finder);
  if (!link) return link.error();
  Status found;
  auto thread = RtThread::start(
      {{}, policy_to_find(spec.cost_policy), 0, "find timers"}, [&] { found = find_each(spec.cpus); }, root_);
  if (!thread) return thread.error();
  thread->join();
  return found;
}

// Goes from one CPU to the next, and sleeps there until a timer has told.
Status BpfSource::find_each(const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    if (const Status there = set_affinity({cpu}); !there) return there;
    for (int i = 0; i < timers_to_find && timers_at(cpu) == 0; ++i)
      sleep_until_ns(monotonic_now_ns() + timer_to_find_ns);
    const std::uint64_t at = timers_at(cpu);
    if (at == 0)
      return not_possible("no timer expired on CPU " + std::to_string(cpu) +
                          ", so that its preemption count is not found");
    counter_of(*counters_)[cpu].preempt_at = at + static_cast<std::uint64_t>(task_.preempt.behind_timers);
  }
  return {};
}

std::uint64_t BpfSource::timers_at(int cpu) const {
  return std::atomic_ref<std::uint64_t>(counter_of(*counters_)[cpu].timers_at)
      .load(std::memory_order_relaxed);
}

Status BpfSource::set_up(const SourceSpec& spec) {
  if (const Status made = make_arrays(spec.cpus, spec.buffer_bytes); !made) return made;
  if (task_.preempt.way == BpfPreempt::CountSource::address)
    if (const Status found = find_counts(spec); !found) return found;
  if (const Status measured = measure(spec); !measured) return measured;
  for (std::size_t i = 0; i < plan_.events.size(); ++i) {
    const TracedEvent& event = plan_.events[i];
    auto program = load(event.name, static_cast<std::uint8_t>(i), filter_of(event, spec.ours));
    if (!program) return program.error();
    programs_.push_back(std::move(*program));
  }
  return {};
}

// What one event costs, and how deep the kernel's way into a program is itself: the event that is measured comes where a task may be
// preempted and migrated.
Status BpfSource::measure(const SourceSpec& spec) {
  auto program = load(bpf_cost_event, cost_number(), {});
  if (!program) return program.error();
  Fd link;
  event_cost_ns_ = measure_event_cost(
      [&] {
        auto attached = attach_bpf(*program);
        if (attached) link = std::move(*attached);
        return link.valid();
      },
      spec.cost_cpus, spec.cost_policy, root_);
  link.reset();
  const auto own = ring_->skip(reading_);
  if (!own) return not_possible("a BPF program recorded nothing while it was measured");
  if (task_.preempt.way == BpfPreempt::CountSource::address && !own->saw_plain_task)
    return not_possible("the value that BPF programs read as the preemption count is not one");
  reading_.own_preempt = own->preempt;
  ring_->read_as(reading_);
  return {};
}

Status BpfSource::start() {
  for (const Fd& program : programs_) {
    auto link = attach_bpf(program);
    if (!link) return link.error();
    links_.push_back(std::move(*link));
  }
  return {};
}

std::int64_t BpfSource::missed() const {
  std::int64_t missed = 0;
  for (const Fd& program : programs_) missed += bpf_misses(program);
  return missed;
}

void BpfSource::give_back() {
  links_.clear();
  programs_.clear();
  ring_.reset();
  counters_.reset();
  all_records_.reset();
}

Status check_kernel(const Root& root) {
  if (!root.is_machine()) return not_possible("BPF is for the running kernel alone");
  if (this_machine == BpfMachine::other) return not_possible("BPF is used on x86-64 and arm64 alone");
  if (this_release() < oldest)
    return not_possible("BPF is used from Linux " + std::to_string(oldest.major) + "." +
                        std::to_string(oldest.minor) + " on");
  if (this_machine == BpfMachine::arm64 && this_release() >= generic_bits)
    return not_possible("BPF is used on arm64 up to Linux 6.17");
  if (root.read_integer("/proc/sys/net/core/bpf_jit_enable").value_or(1) == 0)
    return not_possible("the kernel's compiler of BPF programs is off",
                        "Switch it on: sysctl net.core.bpf_jit_enable=1");
  return {};
}

// What the kernel describes is read once: 5 MB, a page at a time.
Result<std::shared_ptr<const Btf>> kernel_btf(const Root& root) {
  static std::shared_ptr<const Btf> known;
  if (known) return known;
  auto bytes = root.read("/sys/kernel/btf/vmlinux");
  if (!bytes) return not_possible("the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF is off)");
  auto btf = Btf::parse(std::move(*bytes));
  if (!btf) return not_possible("the kernel's description of its types (BTF) is not understood");
  known = std::make_shared<const Btf>(std::move(*btf));
  return known;
}

// What the kernel said of such programs: what events are told with, or why it refused.
struct Tried {
  ExplainEvents events;
  bool by_address;
  Result<BpfTask> task;
};

std::vector<Tried>& tried() {
  static std::vector<Tried> all;
  return all;
}

}  // namespace

Result<std::unique_ptr<EventSource>> open_bpf_source(const Root& root, ExplainEvents events,
                                                     bool by_address) {
  if (const Status usable = check_kernel(root); !usable) return usable.error();
  auto btf = kernel_btf(root);
  if (!btf) return btf.error();
  for (const Tried& before : tried())
    if (before.events == events && before.by_address == by_address) {
      if (!before.task) return before.task.error();
      return std::unique_ptr<EventSource>(std::make_unique<BpfSource>(root, events, *btf, *before.task));
    }
  auto tasks = find_bpf_tasks(**btf, this_machine);
  if (!tasks) return tasks.error();
  // Only where it is asked for: the one such kernel at hand calls no program while process 1 runs (docs/explain.md).
  std::erase_if(*tasks, [&](const BpfTask& one) {
    return (one.preempt.way == BpfPreempt::CountSource::address) != by_address;
  });
  if (tasks->empty())
    return not_possible("the preemption count is read by its address on x86-64 from Linux 6.2 on");
  auto source = std::make_unique<BpfSource>(root, events, *btf, tasks->front());
  const auto& planned = source->plan().events;
  if (std::none_of(planned.begin(), planned.end(),
                   [](const TracedEvent& event) { return event.name == "sched_switch"; }))
    return not_possible("the kernel's description of its types (BTF) has no tracepoint sched_switch");
  const Status taken = source->try_programs(*tasks);
  tried().push_back(
      {events, by_address, taken ? Result<BpfTask>(source->task()) : Result<BpfTask>(taken.error())});
  if (!taken) return taken.error();
  return std::unique_ptr<EventSource>(std::move(source));
}

}  // namespace howlate
