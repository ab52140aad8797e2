// The processes of a job: one for each line, and the end of everything that it started.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/result.hpp"
#include "job/job.hpp"
#include "sys/file.hpp"

namespace howlate {

// Makes this process, and not the machine's first process, the parent of orphans below it.
void adopt_orphans();

// Blocks SIGCHLD and the signals that ask for an end (those that the caller does not ignore), and gives a
// descriptor on which they can be read. Before any thread is started.
Result<Fd> open_job_signals();

// Starts the line in the folder, which is there, with its output in the files `stdout` and `stderr`; it is the
// first of a process group and ends when this process does. `guest`: the machine is the job's own.
Result<pid_t> start_line(const JobLine& line, const std::string& folder, bool guest);

// Reaps the process if it has ended, and kills the rest of its group. False: it has not ended yet.
bool take_ended(pid_t pid, int& how);
// Reaps ended children other than `pid`: orphans.
void reap_others(pid_t pid);

// Kills and reaps all processes below this one, however deep, including those that appear meanwhile.
// Needs adopt_orphans(), or to be the machine's first process.
void end_descendants();

// "0", "3", "signal 9"
std::string status_text(int how);

}  // namespace howlate
