// What a cell asks of `--explain`.
#pragma once

#include <cstdint>

namespace howlate {

// Each event recorded costs the wake-up that it comes in some hundred instructions (docs/explain.md). `few`: what comes once in every
// wake-up is the timer's expiry, the waking and the switch. `all`: the ends of both too, the interrupt around them, and idle.
// `automatic`: which of both depends on who records.
enum class ExplainEvents { few, all, automatic };
// Who records: BPF programs where the kernel takes them, or its trace ring. `bpf_by_address`: programs that read the preemption count by its
// address, where the kernel has no names of its variables (CONFIG_KALLSYMS_ALL).
enum class ExplainWith { automatic, bpf, bpf_by_address, tracefs };

struct ExplainOptions {
  bool on = false;
  ExplainWith with = ExplainWith::automatic;
  ExplainEvents events = ExplainEvents::automatic;
  bool stacks = false;
  std::int64_t worst = 20;
  std::int64_t above_ns = 0;      // 0: none
  std::int64_t buffer_bytes = 0;  // of each traced CPU
};

}  // namespace howlate
