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
  enum class CountSource { task, variable, address };

  CountSource way = CountSource::task;
  Btf::Field field;            // in the task, in the variable, or at the address
  std::uint32_t variable = 0;  // its number
  // By address: how far behind its CPU's hrtimer_bases, to which every timer points.
  std::int64_t behind_timers = 0;
};

// What makes an address readable: a function of the kernel's, whose call the verifier replaces by a move, and what is then taken to be
// there. Numbers in BTF.
struct BpfCast {
  std::uint32_t function = 0;
  std::uint32_t bytes_4 = 0, bytes_8 = 0;  // structures that begin with a number of so many bytes
};
std::optional<BpfCast> find_bpf_cast(const Btf& btf);  // from Linux 6.2 on

// The ways that this kernel's types allow, to be tried in this order; the one by address only where that can be made readable.
Result<std::vector<BpfPreempt>> find_bpf_preempts(const Btf& btf, BpfMachine machine, bool can_cast);

}  // namespace howlate
