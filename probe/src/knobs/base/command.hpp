// The probe's commands about knobs.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// `howlate-probe restore`: undo what killed probes left behind, this boot's only.
ExitCode restore_command(const Root& machine = Root());

// `howlate-probe hold --knob NAME=VALUE ... [--cpus LIST] [--duration T]`: hold knobs until SIGTERM, SIGINT
// or the duration; argv without the word "hold". Prints one JSON line when they are in force and one when
// they are restored.
ExitCode hold_command(const std::vector<std::string>& argv);

}  // namespace howlate
