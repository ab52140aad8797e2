// Runs the lines of a job one after the other, each in a folder of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "job/job.hpp"

namespace howlate {

struct JobOptions {
  std::string out;            // its folder: there, and empty
  std::int64_t limit_ns = 0;  // for all lines together; 0 = none
  // What a line that is asked to end may take: a test waits ten seconds for a load that is stuck, and only then
  // restores its knobs and completes its stream.
  std::int64_t grace_ns = 30'000'000'000;
  bool guest = false;  // the machine is the job's own: a line `disk` is allowed
  std::function<void(std::size_t, const std::string&)> ended;  // a line's number and status; may be empty
};

struct JobOutcome {
  std::vector<std::string> statuses;  // of each line: "0", "signal 9", "not run"
  bool stopped = false;               // by a signal
  bool limit_passed = false;
};

// No process of a line is left when the next one begins, nor at the end. An error means that the job itself could
// not continue (a full disk).
Result<JobOutcome> run_job(const Job& job, const JobOptions& options);

}  // namespace howlate
