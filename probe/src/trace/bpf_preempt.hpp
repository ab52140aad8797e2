// Where a BPF program finds the preemption count. Pure: the kernel's types in, answers out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/btf.hpp"
#include "core/result.hpp"

namespace howlate {

enum class BpfMachine { x86_64, arm64, other };

struct BpfPreempt {
  // task: in task_struct (arm64). On x86 each CPU has one. variable: by the number in BTF of the variable that has it, which needs
  // CONFIG_KALLSYMS_ALL. address: read where it was found to be, which needs Linux 6.2, and 4 instructions more.
  enum class Way { task, variable, address };

  Way way = Way::task;
  Btf::Field field;            // in the task, in the variable, or behind the address
  std::uint32_t variable = 0;  // its number
  std::int64_t behind_timers =
      0;  // by address: how far behind its CPU's hrtimer_bases, to which every timer points
};

// What makes an address readable: a function that the kernel makes no call of, and what is then taken to be there. Numbers in BTF.
struct BpfCast {
  std::uint32_t function = 0;
  std::uint32_t bytes_4 = 0, bytes_8 = 0;  // structures that begin with a number of so many bytes
};
std::optional<BpfCast> find_bpf_cast(const Btf& btf);

// The ways that this kernel's types allow, to be tried in this order.
Result<std::vector<BpfPreempt>> bpf_preempts(const Btf& btf, BpfMachine machine);

}  // namespace howlate
