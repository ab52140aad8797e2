// Programs for made kernels: what a kernel must have for an event, and that another kernel's order of things is followed. Whether a
// kernel takes them is for tests/lab/test_explain_bpf.py.
#include "trace/bpf_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "trace/made_btf.hpp"

namespace howlate {
namespace {

using enum BpfRegister;

struct Kernel {
  bool lacks_prio = false, is_arm64 = false, is_hot = false, state_in_front = false, says_no_state = false,
       can_cast = false, is_wide = false, has_no_base = false;
};

Btf made(const Kernel& kernel = {}) {
  MadeBtf btf;
  const auto s32 = btf.integer("int", 4), u64 = btf.integer("unsigned long", 8),
             bool_type = btf.integer("_Bool", 1), letter = btf.integer("char", 1);
  const auto info =
      btf.structure("thread_info", 24, {{"flags", u64, 0}, {"preempt_count", u64, 64}, {"cpu", s32, 128}});
  const auto task = btf.structure("task_struct", 128,
                                  {{"thread_info", info, 0},
                                   {"__state", s32, 192},
                                   {"pid", s32, 224},
                                   {kernel.lacks_prio ? "other" : "prio", s32, 256},
                                   {"exit_state", s32, 288},
                                   {"comm", btf.array(letter, 16), 336}});
  const auto of_task = btf.pointer(task);
  if (kernel.says_no_state)
    btf.tracepoint("sched_switch", {bool_type, of_task, of_task});
  else if (kernel.state_in_front)
    btf.tracepoint("sched_switch", {bool_type, s32, of_task, of_task});
  else
    btf.tracepoint("sched_switch", {bool_type, of_task, of_task, s32});
  btf.tracepoint("sched_waking", {of_task});
  btf.tracepoint("irq_handler_exit", {s32, of_task, s32});
  btf.tracepoint("page_fault_user", {u64, of_task, u64});
  const auto bases = btf.structure("hrtimer_cpu_base", 8, {{"lock", u64, 0}});
  const auto base = btf.structure("hrtimer_clock_base", 8, {{"cpu_base", btf.pointer(bases), 0}});
  const auto timer = btf.structure(
      "hrtimer", 64,
      {{"function", u64, 40 * 8}, {kernel.has_no_base ? "other" : "base", btf.pointer(base), 48 * 8}});
  btf.tracepoint("hrtimer_expire_entry", {btf.pointer(timer), btf.pointer(u64)});
  btf.tracepoint("hrtimer_expire_exit", {btf.pointer(timer)});
  btf.structure("pcpu_hot", 64, {{"current_task", of_task, 0}, {"preempt_count", s32, 64}});
  const auto count = kernel.is_hot ? btf.variable("pcpu_hot", 1) : btf.variable("__preempt_count", s32);
  btf.section(".data..percpu", kernel.is_wide ? 8 : 4,
              {count, btf.variable("runqueues", s32), btf.variable("hrtimer_bases", bases)});
  if (kernel.can_cast) btf.named_function("bpf_rdonly_cast");
  btf.structure("refcount_struct", 4, {{"refs", s32, 0}});
  btf.structure("timespec64", 16, {{"tv_sec", u64, 0}, {"tv_nsec", u64, 64}});
  auto parsed = Btf::parse(btf.bytes());
  REQUIRE(parsed);
  return std::move(*parsed);
}

constexpr BpfPlace place{7, 8, 2, 1024, 3, false};

std::vector<BpfInstruction> program(const Kernel& kernel, std::string_view name, const BpfFilter& filter = {},
                                    BpfPlace where = place) {
  const Btf btf = made(kernel);
  const auto tasks = find_bpf_tasks(btf, kernel.is_arm64 ? BpfMachine::arm64 : BpfMachine::x86_64);
  REQUIRE(tasks);
  const auto made_program = make_bpf_program(name, btf, tasks->front(), filter, where);
  REQUIRE(made_program);
  CHECK(made_program->code.back().code == 0x95);  // exit
  return made_program->code;
}

std::ptrdiff_t count(const std::vector<BpfInstruction>& code, const BpfInstruction& one) {
  return std::count(code.begin(), code.end(), one);
}
constexpr BpfInstruction argument(std::uint8_t to, std::int16_t at) {
  return {0x79, static_cast<std::uint8_t>(0x60 | to), at, 0};
}

TEST_CASE("what a kernel lacks is said, and an event that it does not have has no program") {
  const auto lacking = find_bpf_tasks(made({.lacks_prio = true}), BpfMachine::x86_64);
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().message.find("task_struct.prio") != std::string::npos);
  CHECK(lacking.error().code == ExitCode::not_possible);
  const Btf btf = made();
  const auto tasks = find_bpf_tasks(btf, BpfMachine::x86_64);
  REQUIRE(tasks);
  const BpfTask* const task = &tasks->front();
  CHECK_FALSE(make_bpf_program("softirq_entry", btf, *task, {}, place));
  CHECK_FALSE(make_bpf_program("page_fault_user", btf, *task, {}, place));  // this one has no pt_regs
}

TEST_CASE("the tasks of a switch are found by their types, wherever the state stands") {
  const auto now = program({}, "sched_switch");
  CHECK(count(now, argument(0, 8)) == 1);   // the task that is left
  CHECK(count(now, argument(1, 24)) == 1);  // its state
  CHECK(count(now, argument(2, 16)) == 1);  // the next one
  const auto in_front = program({.state_in_front = true}, "sched_switch");
  CHECK(count(in_front, argument(0, 16)) == 1);
  CHECK(count(in_front, argument(1, 8)) == 1);
  const auto without = program({.says_no_state = true}, "sched_switch");
  CHECK(count(without, {0x61, 0x01, 24, 0}) == 1);  // task_struct.__state
}

TEST_CASE("the preemption count is the CPU's on x86, alone or among others, and the task's on arm64") {
  const auto alone = program({}, "sched_waking");
  CHECK(count(alone, {0x61, 0x01, 0, 0}) == 1);
  const auto hot = program({.is_hot = true}, "sched_waking");
  CHECK(count(hot, {0x61, 0x01, 8, 0}) == 1);
  const auto task = program({.is_arm64 = true}, "sched_waking");
  CHECK(count(task, {0x79, 0x01, 8, 0}) == 1);
  CHECK(count(task, {0x85, 0, 0, 154}) == 0);  // bpf_this_cpu_ptr
}

std::int32_t number(const std::optional<std::uint32_t>& id) {
  REQUIRE(id);
  return static_cast<std::int32_t>(*id);
}
// The call of what makes an address readable, for what is taken to be there.
void check_cast(const std::vector<BpfInstruction>& code, const Btf& btf, std::string_view structure) {
  const BpfInstruction call{0x85, 0x20, 0, number(btf.function_id("bpf_rdonly_cast"))};
  const auto found = std::find(code.begin(), code.end(), call);
  REQUIRE(found != code.end());
  CHECK(found[-1] == BpfInstruction{0xb7, 0x02, 0, number(btf.structure_id(structure))});
  CHECK(count(code, call) == 1);
}

TEST_CASE("what a kernel may refuse is not in what is tried after it; by address comes last") {
  using enum BpfPreempt::CountSource;
  using Ways = std::vector<std::pair<BpfPreempt::CountSource, bool>>;
  const auto tried = [](const Kernel& kernel, BpfMachine machine) {
    const auto tasks = find_bpf_tasks(made(kernel), machine);
    REQUIRE(tasks);
    Ways ways;
    for (const BpfTask& one : *tasks) ways.emplace_back(one.preempt.way, one.cast.has_value());
    return ways;
  };
  CHECK(tried({}, BpfMachine::x86_64) == Ways{{variable, false}});
  CHECK(tried({.can_cast = true}, BpfMachine::x86_64) ==
        Ways{{variable, true}, {variable, false}, {address, true}});
  CHECK(tried({.can_cast = true}, BpfMachine::arm64) == Ways{{task, true}, {task, false}});
}

TEST_CASE("by address the preemption count is read behind the timers of its CPU") {
  for (const bool is_hot : {false, true}) {
    const Btf btf = made({.is_hot = is_hot, .can_cast = true});
    const auto tasks = find_bpf_tasks(btf, BpfMachine::x86_64);
    REQUIRE(tasks);
    CHECK(tasks->back().preempt.behind_timers == (is_hot ? 8 - 16 : -16));
    const auto made_program = make_bpf_program("sched_waking", btf, tasks->back(), {}, place);
    REQUIRE(made_program);
    const auto& code = made_program->code;
    check_cast(code, btf, "refcount_struct");
    CHECK(count(code, {0x79, 0x71, offsetof(BpfCounter, preempt_at), 0}) == 1);
    CHECK(count(code, {0x61, 0x09, 0, 0}) == 1);  // what the address has, kept
    CHECK(count(code, {0x63, 0x97, offsetof(BpfRecord, preempt), 0}) == 1);
    CHECK(count(code, {0x85, 0, 0, 154}) == 0);  // bpf_this_cpu_ptr
  }
  CHECK(count(program({.is_hot = true, .can_cast = true}, "sched_waking"), {0x85, 0, 0, 154}) == 1);
}

TEST_CASE("a preemption count of another width is none that is understood") {
  CHECK_FALSE(find_bpf_tasks(made({.is_wide = true}), BpfMachine::x86_64));
}

TEST_CASE("the program that finds a CPU's variables follows its timer") {
  const auto finder = make_bpf_finder(made(), place);
  REQUIRE(finder);
  CHECK(count(finder->code, {0x79, 0x16, 0, 0}) == 1);   // the timer
  CHECK(count(finder->code, {0x79, 0x61, 48, 0}) == 1);  // hrtimer.base
  CHECK(count(finder->code, {0x79, 0x11, 0, 0}) == 1);   // its CPU's
  CHECK(count(finder->code, {0x7b, 0x17, offsetof(BpfCounter, timers_at), 0}) == 1);
  CHECK(finder->code.back().code == 0x95);
  CHECK_FALSE(make_bpf_finder(made({.has_no_base = true}), place));
}

TEST_CASE("what is filtered out ends before anything is reserved") {
  const auto ours = program({}, "sched_waking", {{11, 12}, false, {}});
  const auto call =
      std::find_if(ours.begin(), ours.end(), [](const BpfInstruction& one) { return one.code == 0x85; });
  for (const std::int32_t pid : {11, 12}) {
    const auto compare = std::find_if(ours.begin(), ours.end(), [&](const BpfInstruction& one) {
      return one.code == 0x15 && one.value == pid;
    });
    CHECK(compare < call);
  }
  const auto irq = program({}, "irq_handler_exit", {{}, false, {11}});
  CHECK(irq[1] == BpfInstruction{0xb7, 0, 0, 0});  // what is returned
  CHECK(irq[2] == argument(1, 0));
  CHECK(irq[3].value == 11);
  CHECK(static_cast<std::size_t>(irq[3].offset) == irq.size() - 4 - 1);  // to its last instruction
  CHECK(count(irq, argument(1, 16)) == 1);  // the handler between both is passed over
}

TEST_CASE("a timer tells when its interrupt began where that is asked for, which memory is read for") {
  constexpr BpfInstruction read_kernel{0x85, 0, 0, 113};
  CHECK(count(program({}, "hrtimer_expire_entry"), read_kernel) == 1);
  const auto cast = program({.can_cast = true}, "hrtimer_expire_entry");
  CHECK(count(cast, read_kernel) == 0);
  check_cast(cast, made({.can_cast = true}), "timespec64");
  const auto untold = program({}, "hrtimer_expire_entry", {{}, false, {}, false});
  CHECK(count(untold, read_kernel) == 0);
  CHECK(count(untold, {0x7a, 0x07, 40, 0}) == 1);  // 0 in its place
  const auto end = program({}, "hrtimer_expire_exit");
  CHECK(std::none_of(end.begin(), end.end(), [](const BpfInstruction& one) {
    return (one.registers & 0x0f) == 6 || one.registers >> 4 == 6;  // its arguments are not looked at
  }));
}

TEST_CASE("an idle task's name is not copied") {
  const auto code = program({}, "sched_switch");
  const auto skip = std::find(code.begin(), code.end(), BpfInstruction{0x15, 0x01, 4, 0});
  REQUIRE(skip != code.end());
  CHECK(skip[-1] == BpfInstruction{0x63, 0x17, 40, 0});  // where its number is 0
}

TEST_CASE("the clock is read before the record's place is taken") {
  const auto code = program({}, "sched_waking");
  const auto clock = std::find(code.begin(), code.end(), BpfInstruction{0x85, 0, 0, 5});
  const auto take = std::find_if(code.begin(), code.end(),
                                 [](const BpfInstruction& one) { return one.code == 0xdb; });  // fetch_add
  REQUIRE(take != code.end());
  CHECK(clock < take);
  CHECK(count(code, {0x85, 0, 0, 5}) == 1);
}

TEST_CASE("the number that makes a record whole is written last") {
  const auto plain = program({}, "sched_waking");
  CHECK(plain[plain.size() - 2] == BpfInstruction{0x63, 0x87, 8, 0});
  BpfPlace ordered = place;
  ordered.publish_ordered = true;
  const auto exchanged = program({}, "sched_waking", {}, ordered);
  CHECK(exchanged[exchanged.size() - 2] == BpfInstruction{0xc3, 0x87, 8, 0xe1});
}

}  // namespace
}  // namespace howlate
