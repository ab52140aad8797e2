// The anticipation of a real-time core beside Linux: by how much it programs its timers ahead of their dates, so that the interrupt's and
// the switch's own time does not count. Cobalt and EVL call it gravity and have one for each kind of what waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

struct Gravity {
  std::int64_t irq_ns = 0;     // of a handler
  std::int64_t kernel_ns = 0;  // of a kernel thread
  std::int64_t user_ns = 0;    // of a thread in user space

  bool operator==(const Gravity&) const = default;
};

// The file of the core's clock; empty where there is no such core ("cobalt", "evl").
std::string_view gravity_file(std::string_view core);

// From the file's text: "gravity: irq=0 kernel=2000 user=2000" (Cobalt, one line of several), "0i 2000k 2000u" (EVL).
Result<Gravity> parse_gravity(std::string_view text);
// "0i 2000k 2000u", as both cores take it.
std::string gravity_text(const Gravity& gravity);

Result<Gravity> read_gravity(const Root& root, std::string_view core);

}  // namespace howlate
