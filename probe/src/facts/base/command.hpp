// All facts together: as JSON, the few of a stream's header, and the command that prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// {"facts": 1, "values": {"kernel.release": "6.1.0", ...}, "missing": {"kernel.realtime": "<reason>", ...}, "absent": ["kernel.realtime"]}
// Every key is in `values`; those without a value are null there and have their reason in `missing`, and their name in `absent`
// where the machine does not have the thing (as opposed to: it could not be read).
std::string facts_json(std::string_view root = "/");

// The few that a stream's header carries: {"kernel_release", "kernel_version", "machine", "cpus_online",
// "clocksource", "cmdline"}.
std::string brief_facts_json(std::string_view root = "/");

// `howlate-probe facts [--json] [--root DIR]`; argv without the word "facts".
ExitCode facts_command(const std::vector<std::string>& argv);

}  // namespace howlate
