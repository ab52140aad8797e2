// The text of a job (docs/job.md): one line = one JSON array of strings = one thing to do. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

struct JobLine {
  enum class LineKind {
    probe,    // ["howlate-probe", ...]: this program, executed anew
    module,   // ["module", "NAME", "k=v"...]
    unload,   // ["unload", "NAME"]
    disk,     // ["disk", "/dev/DEVICE", "/FOLDER"]: only in a guest
    copy,     // ["copy", "/proc/FILE"]: to standard output
    program,  // ["/path/to/program", ...]
  };
  LineKind kind = LineKind::program;
  std::vector<std::string> argv;
};

using Job = std::vector<JobLine>;

// The whole job, or what is wrong with its first bad line (a usage error that names the line, from 0).
Result<Job> read_job(std::string_view text);

// "x=1 y="two words"": the parameters of a module line as the kernel wants them.
std::string module_parameters(const JobLine& line);

}  // namespace howlate
