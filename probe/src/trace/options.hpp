// What a cell asks of `--explain`.
#pragma once

#include <cstdint>

namespace howlate {

// Each event recorded costs the wake-up that it comes in some 600 instructions (docs/explain.md). `few`: what comes once in every
// wake-up is the timer's expiry, the waking and the switch. `all`: the ends of both too, the interrupt around them, and idle.
enum class ExplainEvents { few, all };

struct ExplainOptions {
  bool on = false;
  ExplainEvents events = ExplainEvents::few;
  bool stacks = false;
  std::int64_t worst = 20;
  std::int64_t above_ns = 0;      // 0: none
  std::int64_t buffer_bytes = 0;  // of each traced CPU
};

}  // namespace howlate
