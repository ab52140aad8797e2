// The child's side of starting a load: from fork() to the program that is executed anew.
#pragma once

#include <sys/types.h>

namespace howlate {

// Descriptors in the load: of the report pipe, and of the memory that it counts in.
inline constexpr int report_place = 3, slots_place = 4;

// In the child: nothing here allocates. `words`: the load's command line; `out`, `err`, `report`, `slots`: what it inherits. The load
// ends with `parent`, the one that started it. Why it cannot be executed goes to `err`.
[[noreturn]] void become_load(pid_t parent, char* const* words, int out, int err, int report, int slots);

}  // namespace howlate
