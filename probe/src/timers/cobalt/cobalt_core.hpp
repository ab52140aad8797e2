// Cobalt as the timers use it (timers/core_sleep.hpp says what each member is). The calls are made by their names for Cobalt (__RT), so no
// other call of the probe is wrapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "howlate_abi.h"
#include "timers/core_thread.hpp"

namespace howlate {

struct Cobalt {
  static constexpr std::string_view name = "cobalt";
  static constexpr const char* device = HOWLATE_COBALT_DEVICE;
  static constexpr std::string_view module = HOWLATE_COBALT_MODULE;

  static Status available();
  static Status take(const CorePolicy& policy);
  static void enter();
  static Result<std::int64_t> switches();

  // Whether the library binds this program to the core: tried in a child, because it ends a program that it cannot bind.
  static Status try_to_bind();
  // The calling thread runs with this policy by the core's word.
  static Status check_policy(const CorePolicy& policy);
};

}  // namespace howlate
