// EVL as the timers use it (timers/core_sleep.hpp says what each member is).
#pragma once

#include <cstdint>
#include <string_view>

#include "howlate_abi.h"
#include "timers/core_thread.hpp"

namespace howlate {

struct Evl {
  static constexpr std::string_view name = "evl";
  static constexpr const char* device = HOWLATE_EVL_DEVICE;
  static constexpr std::string_view module = HOWLATE_EVL_MODULE;

  static Status available();
  static Status take(const CorePolicy& policy);
  static void enter();
  static Result<std::int64_t> switches();
};

}  // namespace howlate
