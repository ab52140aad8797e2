// Standard input, output and error: open from the start, and checked for lost output at the end.
#pragma once

#include "core/result.hpp"

namespace howlate {

// Opens /dev/null in place of those that are closed (`>&-`): a stream's file would get the number, and what is
// printed would then land in it.
void have_standard_streams();

// Whether all output was written, which fails on a full disk. A reader that closed the pipe is no
// error.
Status standard_output_kept();

// Prints on standard error what went wrong, in the form that all commands share, and returns the exit code.
ExitCode complain(const Error& error);

}  // namespace howlate
