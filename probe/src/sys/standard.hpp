// Standard input, output and error: there from the start, and known to be kept at the end.
#pragma once

#include "core/result.hpp"

namespace howlate {

// Opens /dev/null in place of those that are closed (`>&-`): a stream's file would get the number, and what is
// printed would then land in it.
void have_standard_streams();

// Whether all that was printed is kept: what a full disk swallowed is not. A reader that went away is no
// error.
Status standard_output_kept();

// Says on standard error what went wrong, in the one form that every command has, and answers with its code.
ExitCode complain(const Error& error);

}  // namespace howlate
