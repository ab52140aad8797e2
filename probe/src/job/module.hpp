// Loading a module of the kernel from its file, and unloading it.
#pragma once

#include <string>

#include "core/result.hpp"
#include "job/job.hpp"

namespace howlate {

// Loads /lib/modules/NAME.ko with the line's parameters. A loaded module is fine. What the kernel logged
// last is part of the error.
Status load_module(const JobLine& line);

// Does not wait: a module that is in use is an error, and stays loaded.
Status unload_module(const std::string& name);

}  // namespace howlate
