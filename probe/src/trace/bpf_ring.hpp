// The rings that BPF programs write, one of each traced CPU: an array in memory that overwrites itself. They are read as pages of the
// kernel's own trace ring are, with events in a form of our own, so that what keeps and decodes pages is the same for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/trace_page.hpp"
#include "sys/trace_ring.hpp"
#include "trace/bpf_program.hpp"
#include "trace/bpf_record.hpp"
#include "trace/events.hpp"

namespace howlate {

// How this kernel's numbers are read.
struct BpfReading {
  // Bits of common_flags; 0: this kernel's trace does not tell it.
  std::uint8_t resched_flag = 4, lazy_flag = 0, preempt_resched_flag = 32, bottom_halves_flag = 0;
  std::uint32_t resched_bit = 0, lazy_bit = 0;  // of thread_info.flags
  bool count_has_resched = false;               // x86: bit 31 of the preemption count is 0 where one is due
  bool softirq_in_task = false;                 // RT
  bool idle_ends_with_irqs_on = false;          // before Linux 6.3, without a driver for idle states
  std::uint32_t own_preempt = 0;                // what the way into a program adds itself
};

// The form of an event in the pages made here.
TraceFormat bpf_format(std::string_view name, int number);
// The columns a to d, as an event's description says where they are.
std::array<std::optional<TraceField>, 4> bpf_fields(const TraceFormat& format);

// What the kernel's trace says of the same moment: common_flags, common_preempt_count without the depth of migrate_disable.
std::uint8_t bpf_flags(const BpfRecord& record, IrqsOff irqs_off, const BpfReading& reading);
std::uint8_t bpf_preempt(const BpfRecord& record, const BpfReading& reading);
// prev_state of sched_switch.
std::uint32_t bpf_prev_state(std::uint32_t both);

class BpfRing : public TracePages {
 public:
  // `names` of the events by their numbers; `records` of each CPU.
  BpfRing(std::vector<std::string> names, std::uint32_t records);
  void add(int cpu, BpfCounter& counter, std::span<BpfRecord> memory);
  void read_as(const BpfReading& reading) { reading_ = reading; }

  bool read(int cpu, std::span<std::byte> page) override;
  [[nodiscard]] bool blocked(int cpu) const override;
  struct Skipped {
    std::uint32_t preempt = 0;  // the least depth
    // One count at least was that of a task, outside of interrupts, and with no reschedule due.
    bool saw_plain_task = false;
  };
  // Passes over what is there, of an event that comes in a task; nothing where nothing is there.
  std::optional<Skipped> skip(const BpfReading& reading);

  static constexpr PageLayout layout{};

 private:
  struct Cpu {
    int number;
    BpfCounter* counter;
    std::span<BpfRecord> memory;
    std::uint64_t next = 1;  // record
    std::int64_t lost = 0;   // before it
    std::int64_t last_ns = 0;
    std::optional<std::int32_t> running = {};  // to whom the last switch went
  };
  enum class Taken { whole, not_yet, gone };
  [[nodiscard]] std::uint64_t end_of(const Cpu& cpu) const;
  Taken take(const Cpu& cpu, BpfRecord& record) const;
  [[nodiscard]] bool is_switch(const BpfRecord& record) const;
  [[nodiscard]] bool misses_before(const Cpu& cpu, const BpfRecord& record) const;
  std::size_t put(std::span<std::byte> room, const BpfRecord& record, std::int64_t delta_ns, int cpu) const;

  std::vector<const BpfEvent*> events_;
  std::uint32_t records_;
  BpfReading reading_;
  std::vector<Cpu> cpus_;
};

}  // namespace howlate
