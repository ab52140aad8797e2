// The first process of a guest (docs/job.md): prepares the machine, stops it once, runs the job that it then
// finds in the window, hands the result over, and ends the machine.
#pragma once

namespace howlate {

// Whether this process was started by the kernel as a machine's /init. A container's first process is not.
bool is_init(int argc, const char* const* argv);

// Does all of it. Every failure is reported in the window and on the console; the machine ends in any case.
[[noreturn]] void be_init();

}  // namespace howlate
