#include "sys/clock.hpp"

#include "sys/file.hpp"

namespace howlate {

std::string clock_source(const Root& root) {
  return read_text(root.at("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
      .value_or("unknown");
}

}  // namespace howlate
