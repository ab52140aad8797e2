// Cobalt's side of a measuring thread. The calls are made by their names for Cobalt (__RT), so no other call of the probe is wrapped.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.hpp"

namespace howlate {

struct Cobalt {
  static constexpr std::string_view name = "cobalt";
  static void enter();
  static std::int64_t switches();

  // Whether the kernel has the core.
  static Status present();
  // Whether a program can bind to the core: tried in a child, because the library ends a program that cannot.
  static Status available();
  // The calling thread, which runs as fifo or rr, becomes a thread of Cobalt's with the same priority.
  static Status attach();
};

}  // namespace howlate
