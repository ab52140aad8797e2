// Whether a real-time core beside Linux (Cobalt, EVL) runs now, whatever was asked for when the machine booted.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// "running", "stopped", "disabled", or another word of EVL's; an error where the kernel has no core of this name ("cobalt", "evl").
Result<std::string> read_core_state(const Root& root, std::string_view core);

// Cobalt's file of its clock, with gravity and devices. An error while the core does not run: Xenomai 3.3 then dereferences a null
// pointer in the kernel for whoever reads the file.
Result<std::string> read_cobalt_clock(const Root& root);

// A sentence, and how to start the core, where it does not run.
Status core_runs(const Root& root, std::string_view core);

// A sentence where the caller may not open the devices through which Cobalt's library binds to the core.
Status cobalt_admits_caller(const Root& root);

// What Cobalt's library says of a program that the core does not take: its lines about rights, else its last.
std::string reason_of_refusal(const std::string& stderr_text);

// Whether the caller may read and write EVL's control device, without which no thread becomes one of EVL's.
Result<bool> evl_admits_caller(const Root& root);

}  // namespace howlate
