// Who records the events for `--explain`: the kernel's trace ring (trace/ring_source.cpp), or BPF programs (trace/bpf_source.cpp). Both
// say which events those are, and give pages of one form.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "sys/trace_ring.hpp"
#include "trace/events.hpp"
#include "trace/options.hpp"

namespace howlate {

// What is to be recorded.
struct SourceSpec {
  std::vector<int> cpus;
  std::vector<pid_t> ours;    // the measuring threads
  std::int64_t buffer_bytes;  // of each CPU
  bool stacks = false;
  // Where and how the cost of an event is measured.
  std::vector<int> cost_cpus;
  SchedPolicy cost_policy;
};

class EventSource : public TracePages {
 public:
  // "tracefs", "bpf".
  [[nodiscard]] virtual std::string_view name() const = 0;
  // By which events are recorded, as the kernel calls it; all times that are told are of CLOCK_MONOTONIC.
  [[nodiscard]] virtual std::string_view clock() const = 0;
  [[nodiscard]] virtual const EventPlan& plan() const = 0;
  // Everything but the recording itself; measures what an event costs.
  virtual Status set_up(const SourceSpec& spec) = 0;
  virtual Status start() = 0;
  // Nothing is recorded afterwards; what was recorded can be read.
  virtual void stop() = 0;
  // Gives everything back.
  virtual void end() = 0;

  [[nodiscard]] virtual std::int64_t buffer_bytes() const = 0;  // of each CPU
  [[nodiscard]] virtual std::optional<std::int64_t> event_cost_ns() const = 0;
  // Events of the whole run, on all CPUs, that no page tells of as lost: each came while its own program ran.
  [[nodiscard]] virtual std::int64_t missed() const { return 0; }
  // What other CPUs ask for by their interrupts, by the addresses of the texts.
  [[nodiscard]] virtual std::map<std::int64_t, std::string> ipi_texts() const = 0;
};

// Changes nothing on the machine until set_up(); the error is the reason why there is none.
Result<std::unique_ptr<EventSource>> open_ring_source(const Root& root, ExplainEvents events);
Result<std::unique_ptr<EventSource>> open_bpf_source(const Root& root, ExplainEvents events, bool by_address);

struct ChosenSource {
  std::unique_ptr<EventSource> source;
  ExplainEvents events = ExplainEvents::few;  // few or all
  std::string no_bpf;                         // why not, where BPF was to be had if possible
};
Result<ChosenSource> choose_source(const Root& root, const ExplainOptions& options);
// The kernel's trace ring; `no_bpf` where BPF was to be had if possible.
Result<ChosenSource> choose_ring(const Root& root, const ExplainOptions& options, std::string no_bpf);

}  // namespace howlate
