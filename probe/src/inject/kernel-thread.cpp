// A kernel thread above the measuring one.
#include "inject/module.hpp"

namespace howlate {

extern const Injection injection_kernel_thread;
const Injection injection_kernel_thread =
    in_kernel<HOWLATE_INJECT_THREAD>("kernel-thread", "a kernel thread of priority FIFO 95");

}  // namespace howlate
