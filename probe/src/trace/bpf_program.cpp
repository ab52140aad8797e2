// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
#include "trace/bpf_program.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace howlate {

namespace {

using enum BpfRegister;

constexpr std::int32_t lookup = 1, clock_ns = 5, processor = 8, read_kernel = 113, read_kernel_text = 115,
                       this_cpu = 154, current_task = 158;
constexpr std::int32_t key_at = -4, time_at = -16;  // on the stack
constexpr BpfRegister current = r0;                 // the task, until something is called
constexpr std::int32_t counter_shift = 6;
static_assert(sizeof(BpfCounter) == 1U << 6U);

constexpr std::uint8_t values_at = offsetof(BpfRecord, values);
constexpr BpfValue none{};
constexpr BpfEvent events[] = {
    {"sched_switch", {{{0, 4}, {4, 4}, {8, 4}, {12, 4}}}, IrqsOff::always, "next_comm", {16, 16}},
    {"sched_waking", {{{0, 4}, {4, 4}, {8, 4}, none}}, IrqsOff::unless_itself, {}, none},
    {"sched_migrate_task", {{{0, 4}, {4, 4}, {8, 4}, {12, 4}}}, IrqsOff::always, {}, none},
    {"irq_handler_entry", {{{0, 4}, none, none, none}}, IrqsOff::always, "name", {4, 28}},
    {"irq_handler_exit", {{{0, 4}, {4, 4}, none, none}}, IrqsOff::always, {}, none},
    {"softirq_entry", {{{0, 4}, none, none, none}}, IrqsOff::never, {}, none},
    {"softirq_exit", {{{0, 4}, none, none, none}}, IrqsOff::never, {}, none},
    {"ipi_entry", {{{0, 8}, none, none, none}}, IrqsOff::always, {}, none},
    {"ipi_exit", {{{0, 8}, none, none, none}}, IrqsOff::always, {}, none},
    {"hrtimer_expire_entry", {{{0, 8}, {8, 8}, {16, 8}, none}}, IrqsOff::in_hardirq, {}, none},
    {"hrtimer_expire_exit", {}, IrqsOff::in_hardirq, {}, none},  // the timer is that of its entry
    {"cpu_idle", {{{0, 4}, {4, 4}, none, none}}, IrqsOff::idle, {}, none},
    {"page_fault_user", {{{0, 8}, {8, 8}, {16, 8}, none}}, IrqsOff::always, {}, none},
    {"page_fault_kernel", {{{0, 8}, {8, 8}, {16, 8}, none}}, IrqsOff::always, {}, none},
    {"nmi_handler", {{{0, 8}, {8, 8}, {16, 4}, none}}, IrqsOff::always, {}, none},
};
// Of irq_vectors, whose names are the kernel's, and the one whose cost is measured.
constexpr BpfEvent vector{"", {{{0, 4}, none, none, none}}, IrqsOff::always, {}, none};
constexpr BpfEvent nothing{bpf_cost_event, {}, IrqsOff::never, {}, none};

// Leaves this CPU's counter in r7.
void counter_of_cpu(BpfCode& code, const BpfPlace& place) {
  code.call(processor);
  code.sum(BpfSum::bit_and, r0, static_cast<std::int32_t>(place.cpus - 1));
  code.sum(BpfSum::left, r0, counter_shift);
  code.map_memory(r7, place.counters);
  code.sum(BpfSum::add, r7, r0);
}

struct ProgramParams {
  std::vector<Btf::Param> all;  // without the kernel's own first one

  // The number of the n-th pointer to such a structure.
  [[nodiscard]] std::optional<int> pointer_to(std::string_view structure, int n = 0) const {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].pointee == structure && n-- == 0) return static_cast<int>(i);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int> number_of(std::uint32_t bytes) const {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i].pointer && all[i].bytes == bytes) return static_cast<int>(i);
    return std::nullopt;
  }
};

// Writes one program. r6 has the arguments, r7 the record, r8 its number; before there is a record r7 has the
// CPU's counter, r8 the place of its records, and the stack the time. r9 has the preemption count where that is read by its address. Of the
// events of one wake-up each instruction comes nine times.
class Writer {
 public:
  Writer(std::string_view name, const Btf& btf, const BpfTask& task, const BpfFilter& filter,
         const BpfPlace& place, ProgramParams params)
      : name_(name),
        btf_(btf),
        task_(task),
        filter_(filter),
        place_(place),
        params_(std::move(params)),
        out_(code_.label()) {}

  std::optional<std::vector<BpfInstruction>> write() {
    // The event whose cost is measured has what nearly all have.
    const bool has_arguments = bpf_event(name_)->values[0].bytes != 0 || name_ == bpf_cost_event;
    if (has_arguments) code_.move(r6, r1);
    if (!filter_.pids.empty() || !filter_.not_irqs.empty())
      code_.move(r0, 0);  // what is returned has to be something
    if (!pass()) return std::nullopt;
    reserve();
    if (!common() || !own()) return std::nullopt;
    publish();
    code_.place(out_);
    code_.exit();
    return code_.finish();
  }

 private:
  void argument(BpfRegister to, int number) { code_.load(BpfSize::u64, to, r6, number * 8); }
  void field(BpfRegister to, BpfRegister from, const Btf::Field& which) {
    code_.load(*bpf_size(which.bytes), to, from, static_cast<std::int32_t>(which.offset));
  }
  void put(std::uint8_t at, std::uint8_t bytes, BpfRegister from) {
    code_.store(*bpf_size(bytes), r7, values_at + at, from);
  }
  void put_argument(std::uint8_t at, std::uint8_t bytes, int number) {
    argument(r1, number);
    put(at, bytes, r1);
  }
  void put_field(std::uint8_t at, BpfRegister from, const Btf::Field& which) {
    field(r1, from, which);
    put(at, static_cast<std::uint8_t>(which.bytes), r1);
  }

  // Leaves out what is not asked for, before anything else is done.
  bool pass() {
    for (const std::int32_t irq : filter_.not_irqs) {
      argument(r1, 0);
      code_.jump_if(BpfWhen::equal, r1, irq, out_);
    }
    if (filter_.pids.empty()) return true;
    if (filter_.current) {
      code_.call(current_task);
      field(r1, r0, task_.pid);
    } else {
      const auto whose = params_.pointer_to("task_struct");
      if (!whose) return false;
      argument(r1, *whose);
      field(r1, r1, task_.pid);
    }
    const auto ours = code_.label();
    for (const pid_t pid : filter_.pids) code_.jump_if(BpfWhen::equal, r1, pid, ours);
    code_.jump(out_);
    code_.place(ours);
    return true;
  }

  // Takes the next record of this CPU's ring. The programs of an interrupt that comes in between take those after it; where it comes
  // between clock and place, those before it, with later times. An NMI comes always, others where the event comes with interrupts on.
  void reserve() {
    counter_of_cpu(code_, place_);
    code_.load(BpfSize::u32, r8, r7, offsetof(BpfCounter, place));
    code_.jump_if(BpfWhen::equal, r8, 0, out_);  // this CPU is not traced
    if (task_.preempt.way == BpfPreempt::CountSource::address) {
      code_.load(BpfSize::u64, r1, r7, offsetof(BpfCounter, preempt_at));
      make_readable(task_.cast->bytes_4);
      field(r9, r0, task_.preempt.field);
    }
    // Before the place: else the events of an interrupt would have earlier times than what it interrupted, and no length.
    code_.call(clock_ns);
    code_.store(BpfSize::u64, stack, time_at, r0);
    code_.move(r1, 1);
    code_.fetch_add(r7, offsetof(BpfCounter, next), r1);
    code_.move(r2, r1);
    code_.sum(BpfSum::bit_and, r2, static_cast<std::int32_t>(place_.records - 1));
    code_.sum(BpfSum::add, r2, r8);
    code_.store(BpfSize::u32, stack, key_at, r2);
    code_.move(r8, r1);
    code_.map(r1, place_.records_of_all);
    code_.move(r2, stack);
    code_.sum(BpfSum::add, r2, key_at);
    code_.call(lookup);
    code_.jump_if(BpfWhen::equal, r0, 0, out_);
    code_.move(r7, r0);
    code_.load(BpfSize::u64, r1, stack, time_at);
    code_.store(BpfSize::u64, r7, offsetof(BpfRecord, time_ns), r1);
  }

  bool common() {
    code_.store(BpfSize::u16, r7, offsetof(BpfRecord, event), place_.number);
    if (task_.preempt.way == BpfPreempt::CountSource::address)
      code_.store(BpfSize::u32, r7, offsetof(BpfRecord, preempt), r9);
    if (task_.preempt.way == BpfPreempt::CountSource::variable) {
      code_.percpu(r1, task_.preempt.variable);
      code_.call(this_cpu);
      preempt(r0);
    }
    if (name_ == "sched_switch") {  // the current task is the one that is left
      const auto prev = params_.pointer_to("task_struct");
      if (!prev) return false;
      argument(current, *prev);
    } else {
      code_.call(current_task);
    }
    field(r1, current, task_.pid);
    code_.store(BpfSize::u32, r7, offsetof(BpfRecord, pid), r1);
    field(r1, current, task_.flags);
    code_.store(BpfSize::u32, r7, offsetof(BpfRecord, task_flags), r1);
    if (task_.softirq) {
      field(r1, current, *task_.softirq);
      code_.store(BpfSize::u32, r7, offsetof(BpfRecord, softirq), r1);
    }
    if (task_.preempt.way == BpfPreempt::CountSource::task) preempt(current);
    return true;
  }

  void preempt(BpfRegister from) {
    field(r1, from, task_.preempt.field);
    code_.store(BpfSize::u32, r7, offsetof(BpfRecord, preempt), r1);
    if (task_.preempt.field.bytes != 8) return;
    code_.sum(BpfSum::right, r1, 32);
    code_.store(BpfSize::u8, r7, offsetof(BpfRecord, no_resched), r1);
  }

  // The event's own fields, as bpf_event() says where they are.
  bool own() {
    if (name_ == "sched_switch") return own_switch();
    if (name_ == "sched_waking" || name_ == "sched_migrate_task") return own_task();
    if (name_ == "hrtimer_expire_entry") return own_timer();
    if (name_.starts_with("page_fault_")) return own_fault();
    if (name_ == "irq_handler_entry") return own_handler();
    const BpfEvent* const event = bpf_event(name_);
    int number = 0;
    const bool skips = name_ == "irq_handler_exit";  // its second argument is the handler
    for (const BpfValue& value : event->values) {
      if (value.bytes == 0) break;
      if (static_cast<std::size_t>(number) >= params_.all.size()) return false;
      put_argument(value.at, value.bytes, number);
      number += skips ? 2 : 1;
    }
    return true;
  }

  // The state is of both kinds, and bit 31 says that the task was preempted: bpf_ring.cpp makes of it what the kernel's trace says.
  bool own_switch() {
    const auto next = params_.pointer_to("task_struct", 1);
    const auto preempted = params_.number_of(1), state = params_.number_of(4);
    if (!next || !preempted || (!state && !task_.state)) return false;
    if (state)
      argument(r1, *state);
    else
      field(r1, current, *task_.state);
    field(r2, current, task_.exit_state);
    code_.sum(BpfSum::bit_or, r1, r2);
    argument(r2, *preempted);
    code_.sum(BpfSum::left, r2, 31);
    code_.sum(BpfSum::bit_or, r1, r2);
    put(0, 4, r1);
    put_field(4, current, task_.prio);
    argument(r2, *next);
    put_field(12, r2, task_.prio);
    put_field(8, r2, task_.pid);
    const auto named = code_.label();
    code_.jump_if(BpfWhen::equal, r1, 0, named);  // an idle task has no name of its own
    put_field(16, r2, {task_.comm.offset, 8});
    put_field(24, r2, {task_.comm.offset + 8, 8});
    code_.place(named);
    return true;
  }

  bool own_task() {
    const auto whose = params_.pointer_to("task_struct");
    if (!whose) return false;
    argument(r2, *whose);
    put_field(0, r2, task_.pid);
    put_field(4, r2, task_.prio);
    put_field(8, r2, task_.cpu);
    if (name_ != "sched_migrate_task") return true;
    const auto to = params_.number_of(4);
    if (!to) return false;
    put_argument(12, 4, *to);
    return true;
  }

  bool own_timer() {
    const auto timer = params_.pointer_to("hrtimer");
    const auto function = btf_.field("hrtimer", "function");
    if (!timer) return false;
    argument(r2, *timer);
    put(0, 8, r2);
    if (!function || function->bytes != 8 || params_.all.size() < 2) return false;
    put_field(16, r2, *function);
    if (!filter_.tells_now) return code_.store(BpfSize::u64, r7, values_at + 8, 0), true;
    if (!params_.all[1].pointer) return put_argument(8, 8, 1), true;
    if (task_.cast) {
      argument(r1, 1);
      make_readable(task_.cast->bytes_8);
      put_field(8, r0, {0, 8});
      return true;
    }
    code_.move(r1, r7);
    code_.sum(BpfSum::add, r1, values_at + 8);
    code_.move(r2, 8);
    argument(r3, 1);
    code_.call(read_kernel);
    return true;
  }

  // Leaves the address that is in r1 in r0, taken for one of such a structure; what r1 to r5 had is lost.
  void make_readable(std::uint32_t structure) {
    code_.move(r2, static_cast<std::int32_t>(structure));
    code_.call_kernel(task_.cast->function);
  }

  bool own_fault() {
    const auto where = params_.pointer_to("pt_regs");
    const auto ip = btf_.field("pt_regs", "ip");
    if (!where || !ip || ip->bytes != 8 || params_.all.size() < 3) return false;
    put_argument(0, 8, 0);
    argument(r2, *where);
    put_field(8, r2, *ip);
    put_argument(16, 8, 2);
    return true;
  }

  bool own_handler() {
    const auto action = params_.pointer_to("irqaction");
    const auto name = btf_.field("irqaction", "name");
    if (!action || !name || name->bytes != 8) return false;
    put_argument(0, 4, 0);
    const BpfValue text = bpf_event(name_)->text;
    code_.move(r1, r7);
    code_.sum(BpfSum::add, r1, values_at + text.at);
    code_.move(r2, text.bytes);
    argument(r3, *action);
    field(r3, r3, *name);
    code_.call(read_kernel_text);
    return true;
  }

  void publish() {
    if (place_.publish_ordered)
      code_.exchange_32(r7, offsetof(BpfRecord, turn), r8);
    else
      code_.store(BpfSize::u32, r7, offsetof(BpfRecord, turn), r8);
  }

  std::string_view name_;
  const Btf& btf_;
  const BpfTask& task_;
  const BpfFilter& filter_;
  const BpfPlace& place_;
  ProgramParams params_;
  BpfCode code_;
  BpfCode::Label out_;
};

Error lacks(std::string_view what) {
  return not_possible("the kernel's description of its types (BTF) has no " + std::string(what));
}

}  // namespace

const BpfEvent* bpf_event(std::string_view name) {
  const auto* const found = std::find_if(std::begin(events), std::end(events),
                                         [&](const BpfEvent& event) { return event.name == name; });
  if (found != std::end(events)) return found;
  if (name == bpf_cost_event) return &nothing;
  return name.ends_with("_entry") || name.ends_with("_exit") ? &vector : nullptr;
}

Result<std::vector<BpfTask>> find_bpf_tasks(const Btf& btf, BpfMachine machine) {
  BpfTask task;
  struct TaskField {
    const char* path;
    std::uint32_t bytes;
    Btf::Field* to;
  };
  for (const TaskField& one :
       {TaskField{"pid", 4, &task.pid}, TaskField{"prio", 4, &task.prio}, TaskField{"comm", 16, &task.comm},
        TaskField{"exit_state", 4, &task.exit_state}, TaskField{"thread_info.flags", 8, &task.flags}}) {
    const auto found = btf.field("task_struct", one.path);
    if (!found || found->bytes != one.bytes) return lacks(std::string("task_struct.") + one.path);
    *one.to = *found;
  }
  auto cpu = btf.field("task_struct", "thread_info.cpu");
  if (!cpu) cpu = btf.field("task_struct", "cpu");
  if (!cpu || cpu->bytes != 4) return lacks("CPU of a task");
  task.cpu = *cpu;
  task.state = btf.field("task_struct", "__state");
  task.softirq = btf.field("task_struct", "softirq_disable_cnt");
  task.cast = find_bpf_cast(btf);
  const auto preempts = find_bpf_preempts(btf, machine, task.cast.has_value());
  if (!preempts) return preempts.error();
  std::vector<BpfTask> tasks;
  for (const BpfPreempt& one : *preempts) {
    task.preempt = one;
    tasks.push_back(task);
    if (!task.cast || one.way == BpfPreempt::CountSource::address) continue;
    tasks.push_back(task);
    tasks.back().cast.reset();
  }
  return tasks;
}

std::optional<BpfProgram> make_bpf_program(std::string_view name, const Btf& btf, const BpfTask& task,
                                           const BpfFilter& filter, const BpfPlace& place) {
  const auto tracepoint = btf.typedef_id("btf_trace_" + std::string(name));
  if (!tracepoint || bpf_event(name) == nullptr) return std::nullopt;
  auto params = btf.params_of(*tracepoint);
  if (!params || params->empty()) return std::nullopt;
  params->erase(params->begin());
  auto code = Writer(name, btf, task, filter, place, {std::move(*params)}).write();
  if (!code) return std::nullopt;
  return BpfProgram{*tracepoint, std::move(*code)};
}

std::optional<BpfProgram> make_bpf_finder(const Btf& btf, const BpfPlace& place) {
  const auto tracepoint = btf.typedef_id("btf_trace_hrtimer_expire_entry");
  const auto base = btf.field("hrtimer", "base"), bases = btf.field("hrtimer_clock_base", "cpu_base");
  if (!tracepoint || !base || base->bytes != 8 || !bases || bases->bytes != 8) return std::nullopt;
  BpfCode code;
  code.load(BpfSize::u64, r6, r1, 0);  // the timer
  counter_of_cpu(code, place);
  code.load(BpfSize::u64, r1, r6, static_cast<std::int32_t>(base->offset));
  code.load(BpfSize::u64, r1, r1, static_cast<std::int32_t>(bases->offset));
  code.store(BpfSize::u64, r7, offsetof(BpfCounter, timers_at), r1);
  code.move(r0, 0);
  code.exit();
  return BpfProgram{*tracepoint, *code.finish()};
}

}  // namespace howlate
