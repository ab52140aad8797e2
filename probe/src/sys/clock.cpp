#include "sys/clock.hpp"

#include "sys/file.hpp"

namespace howlate {

std::string clock_source(const Root& root) {
  return root.read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
      .value_or("unknown");
}

}  // namespace howlate
