// Loading a module of the kernel from its file.
#pragma once

#include "core/result.hpp"
#include "job/job.hpp"

namespace howlate {

// /lib/modules/NAME.ko with the line's parameters. One that is there already is fine. What the kernel logged
// last stands in the error.
Status load_module(const JobLine& line);

}  // namespace howlate
