// Why a module of the project's is not there, or does not do what it is asked.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

// One sentence, with what to do where something can be done: this kernel has no modules, takes signed ones only, its headers
// are not installed, or the module was not loaded.
Error no_module(std::string_view name, const Root& root);
// Its device, opened; an error with what to do.
Result<Fd> open_irq_device(const std::string& path, int flags);
// It refused to start.
Error not_started(std::string_view name, int error);

}  // namespace howlate
