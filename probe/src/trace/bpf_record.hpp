// What a BPF program writes at each event: 64 bytes, as the kernel has them. The reader makes of them what the kernel's own trace would
// say (trace/bpf_ring.hpp), so that the measured task does not pay for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace howlate {

struct BpfRecord {
  std::int64_t time_ns = 0;      // CLOCK_MONOTONIC
  std::uint32_t turn = 0;        // the number of the record, written last: until then it is not whole
  std::int32_t pid = 0;          // of the task in whose context it came
  std::uint32_t preempt = 0;     // preempt_count, as the CPU or the task has it
  std::uint32_t task_flags = 0;  // thread_info.flags
  std::uint8_t event = 0;        // its number in the plan
  std::uint8_t no_resched = 0;   // arm64: thread_info.preempt.need_resched, which is 0 where one is due
  std::uint16_t unused = 0;
  std::uint32_t softirq = 0;  // RT: softirq_disable_cnt
  std::byte values[32] = {};  // the event's own (trace/bpf_program.hpp)
};
static_assert(sizeof(BpfRecord) == 64);

inline constexpr std::uint32_t bpf_record_bytes = sizeof(BpfRecord);

// Of each CPU, in a line of its cache that is its own.
struct alignas(64) BpfCounter {
  std::uint64_t next = 1;  // the number of the next record
  // Where in the array of all records those of this CPU begin; 0, where none begin: it is not traced.
  std::uint32_t place = 0;
  std::uint64_t timers_at = 0;   // the address of its hrtimer_bases, which a program of its own tells
  std::uint64_t preempt_at = 0;  // that of its preemption count, where the programs read it so
};
static_assert(sizeof(BpfCounter) == 64);

}  // namespace howlate
