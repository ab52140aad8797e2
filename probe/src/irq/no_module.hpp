// Why one of the project's modules is missing, or refuses a request.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

// One sentence, with what to do where something can be done: this kernel has no modules, takes signed ones only, its headers
// are not installed, or the module was not loaded. `parameters` are those that it is loaded with.
Error no_module(std::string_view name, const Root& root, std::string_view parameters = {});
// Its device, opened; otherwise an error with a remedy.
Result<Fd> open_irq_device(const std::string& path, int flags);
// Why it could not be opened, by the number of the error: it is not there, or it refuses the caller.
Error not_opened(const std::string& path, int error);
// The error about a module that refused to start.
Error not_started(std::string_view name, int error);

}  // namespace howlate
