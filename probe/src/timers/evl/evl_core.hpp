// EVL's side of a measuring thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.hpp"

namespace howlate {

struct Evl {
  static constexpr std::string_view name = "evl";
  static void enter();
  static std::int64_t switches();

  // Whether the kernel has the core.
  static Status present();
  // Whether a program can attach threads to the core.
  static Status available();
  // The calling thread, which runs as fifo or rr, becomes a thread of EVL's with the same priority.
  static Status attach();
};

}  // namespace howlate
