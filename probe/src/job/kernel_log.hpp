// The kernel's messages from a moment on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sys/file.hpp"

namespace howlate {

class KernelLog {
 public:
  // Starts now. If the log may not be read, it stays empty.
  KernelLog();

  // The messages since the last call, oldest first, each "LEVEL MICROSECONDS TEXT" without its newline.
  std::vector<std::string> take();
  // The text of the last message since the last call; empty if there is none.
  std::string last_text();

 private:
  Fd fd_;
};

// A record of /dev/kmsg ("6,339,5140900,-;text\n KEY=value\n") as "6 5140900 text". Pure.
std::string kernel_message(std::string_view record);

}  // namespace howlate
