// One BPF program for each event: which of its fields are written where in a record. Pure: the kernel's types in,
// instructions out.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/bpf_code.hpp"
#include "core/btf.hpp"
#include "core/result.hpp"
#include "trace/bpf_preempt.hpp"
#include "trace/bpf_record.hpp"
#include "trace/event_spec.hpp"

namespace howlate {

// Whether interrupts are off where an event comes; a program cannot ask (docs/explain.md).
enum class IrqsOff { always, never, in_hardirq, unless_itself, idle };

// Where in a record's values one of the event's is.
struct BpfValue {
  std::uint8_t at = 0, bytes = 0;  // 0: there is none
};
struct BpfEvent {
  std::string_view name;
  std::array<BpfValue, 4> values;
  IrqsOff irqs_off = IrqsOff::always;
  std::string_view text_name;  // "next_comm"
  BpfValue text;
};
// None for an event that no program is known for.
const BpfEvent* bpf_event(std::string_view name);

// Where this kernel has what every event is told with.
struct BpfTask {
  Btf::Field pid, prio, cpu, comm, exit_state, flags;
  std::optional<Btf::Field> state;    // where sched_switch does not say it
  std::optional<Btf::Field> softirq;  // RT
  BpfPreempt preempt;
  std::optional<BpfCast> cast;
};
// More than one where the kernel may refuse what its types allow: to be tried in this order.
Result<std::vector<BpfTask>> find_bpf_tasks(const Btf& btf, BpfMachine machine);

// Of whom it is recorded, and what.
struct BpfFilter {
  std::vector<pid_t> pids;  // of the event's own task, or the current one; empty: of all
  bool current = false;
  std::vector<std::int32_t> not_irqs;  // interrupts that are left out
  // hrtimer_expire_entry: when the interrupt began. Before Linux 6.2 to read it costs a third of the event; where the interrupt has an event
  // of its own it is told by that.
  bool tells_now = true;
};
struct BpfPlace {
  int counters = -1;             // one entry, with the counters of all CPUs
  int records_of_all = -1;       // an entry for each record
  std::uint32_t cpus = 0;        // counters: a power of two, at least as many as CPUs can ever be here
  std::uint32_t records = 0;     // of each CPU: a power of two
  std::uint8_t number = 0;       // the event's
  bool publish_ordered = false;  // by an atomic exchange: where stores can overtake one another
};

struct BpfProgram {
  std::uint32_t tracepoint = 0;
  std::vector<BpfInstruction> code;
};
// Nothing where this kernel does not have the event, or not with what it is to tell.
std::optional<BpfProgram> make_bpf_program(std::string_view name, const Btf& btf, const BpfTask& task,
                                           const BpfFilter& filter, const BpfPlace& place);
// One that writes where each CPU's hrtimer_bases are into its counter, when a timer expires there.
std::optional<BpfProgram> make_bpf_finder(const Btf& btf, const BpfPlace& place);
// One that tells nothing of its own: of the event whose cost is measured.
inline constexpr std::string_view bpf_cost_event = "sched_process_wait";

}  // namespace howlate
