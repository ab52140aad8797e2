// A kernel thread of the lowest real-time priority allocates and frees pages without offering the CPU in between.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_memory_pressure;
const Injection injection_memory_pressure = in_kernel<HOWLATE_INJECT_MEMORY>(
    "memory-pressure", "a kernel thread that allocates and frees pages without a pause");

}  // namespace howlate
