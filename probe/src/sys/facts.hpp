// What this machine is and how it is set, as far as it can make a task late. Read below an injectable root,
// so that a captured tree works like the machine itself. Nothing here fails as a whole: what cannot be read
// is null, with the reason.
//
// For privacy no host name, address, serial number, user name or cgroup path is captured; of the kernel's
// command line only the values that matter for lateness (every other parameter by name alone).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// {"facts": 1, "values": {"kernel.release": "6.1.0", ...}, "missing": {"kernel.realtime": "<reason>", ...}}
// Every key is in `values`; those without a value are null there and have their reason in `missing`.
std::string facts_json(std::string_view root = "/");

// The few that a stream's header carries: {"kernel_release", "kernel_version", "machine", "cpus_online",
// "clocksource", "cmdline"}.
std::string brief_facts_json(std::string_view root = "/");

// `howlate-probe facts [--json] [--root DIR]`; argv without the word "facts".
ExitCode facts_command(const std::vector<std::string>& argv);

}  // namespace howlate
