#include "trace/bpf_preempt.hpp"

#include <string>

namespace howlate {

namespace {

Error lacks_count(const char* of) {
  return not_possible(std::string("the kernel's description of its types (BTF) has no preemption count of ") +
                      of);
}

struct InVariable {
  Btf::Variable variable;
  Btf::Field field;
};

// Alone, or from Linux 6.2 to 6.14 among others that are often used.
std::optional<InVariable> find_variable(const Btf& btf) {
  constexpr std::uint32_t bytes = 4;
  if (const auto alone = btf.percpu_variable("__preempt_count"))
    return alone->bytes == bytes ? std::optional(InVariable{*alone, {0, bytes}}) : std::nullopt;
  const auto hot = btf.percpu_variable("pcpu_hot");
  const auto count = btf.field("pcpu_hot", "preempt_count");
  if (!hot || !count || count->bytes != bytes) return std::nullopt;
  return InVariable{*hot, *count};
}

std::optional<BpfPreempt> by_address(const Btf& btf, const InVariable& where) {
  const auto timers = btf.percpu_variable("hrtimer_bases");
  if (!timers) return std::nullopt;
  const std::int64_t at = std::int64_t{where.variable.offset} + where.field.offset;
  return BpfPreempt{BpfPreempt::CountSource::address, {0, 4}, 0, at - std::int64_t{timers->offset}};
}

}  // namespace

std::optional<BpfCast> find_bpf_cast(const Btf& btf) {
  const auto function = btf.function_id("bpf_rdonly_cast");
  // Every kernel has them.
  const auto bytes_4 = btf.structure_id("refcount_struct"), bytes_8 = btf.structure_id("timespec64");
  if (!function || !bytes_4 || !bytes_8) return std::nullopt;
  return BpfCast{*function, *bytes_4, *bytes_8};
}

Result<std::vector<BpfPreempt>> find_bpf_preempts(const Btf& btf, BpfMachine machine, bool can_cast) {
  if (machine == BpfMachine::arm64) {
    const auto count = btf.field("task_struct", "thread_info.preempt_count");
    if (!count || count->bytes != 8) return lacks_count("a task");
    return std::vector{BpfPreempt{BpfPreempt::CountSource::task, *count}};
  }
  const auto where = find_variable(btf);
  if (!where) return lacks_count("a CPU");
  std::vector ways{BpfPreempt{BpfPreempt::CountSource::variable, where->field, where->variable.number}};
  if (const auto address = can_cast ? by_address(btf, *where) : std::nullopt) ways.push_back(*address);
  return ways;
}

}  // namespace howlate
