// Loading a module of the kernel from its file, and unloading it.
#pragma once

#include <string>

#include "core/result.hpp"
#include "job/job.hpp"

namespace howlate {

// /lib/modules/NAME.ko with the line's parameters. One that is there already is fine. What the kernel logged
// last stands in the error.
Status load_module(const JobLine& line);

// Does not wait: a module that is in use is an error, and stays.
Status unload_module(const std::string& name);

}  // namespace howlate
