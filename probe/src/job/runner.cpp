#include "job/runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "job/processes.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

constexpr const char* not_run = "not run";

Status write_status(const std::string& folder, const std::string& text) {
  const std::string path = folder + "/status";
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const std::string line = text + '\n';
  if (!fd.valid() || ::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return broken("cannot write " + path + ": " + errno_text(errno));
  return {};
}

class Runner {
 public:
  Runner(const JobOptions& options, Fd signals) : options_(options), signals_(std::move(signals)) {
    if (options.limit_ns > 0) end_ns_ = monotonic_now_ns() + options.limit_ns;
  }

  Result<JobOutcome> run(const Job& job) {
    bool go_on = true;
    for (std::size_t number = 0; number < job.size(); ++number) {
      const std::string folder = options_.out + '/' + std::to_string(number);
      if (::mkdir(folder.c_str(), 0755) != 0)
        return broken("cannot make the folder " + folder + ": " + errno_text(errno));
      std::string status = not_run;
      if (go_on && !must_end()) {
        const Result<std::string> ended = run_line(job[number], folder);
        if (!ended) return ended.error();
        status = *ended;
        go_on = status == "0" || !is_foundation(job[number]);
      }
      if (const Status written = write_status(folder, status); !written) return written.error();
      if (options_.ended) options_.ended(number, status);
      outcome_.statuses.push_back(std::move(status));
    }
    return std::move(outcome_);
  }

 private:
  // Whether the following lines rely on the effect of this one.
  static bool is_foundation(const JobLine& line) {
    return line.kind == JobLine::LineKind::module || line.kind == JobLine::LineKind::disk;
  }

  bool must_end() {
    while (const int signal = take_signal(signals_))
      if (signal != SIGCHLD) outcome_.stopped = true;
    if (end_ns_ != 0 && monotonic_now_ns() >= end_ns_) outcome_.limit_passed = true;
    return outcome_.stopped || outcome_.limit_passed;
  }

  Result<std::string> run_line(const JobLine& line, const std::string& folder) {
    const Result<pid_t> pid = start_line(line, folder, options_.guest);
    if (!pid) return pid.error();
    const int how = wait_for(*pid);
    end_descendants();
    return status_text(how);
  }

  int wait_for(pid_t pid) {
    int how = 0;
    std::int64_t kill_ns = 0;  // when it is killed; 0 = it has not been asked to end
    for (;;) {
      // First, as it takes the signals: else an end between the look and this would wake nobody.
      const bool ending = must_end();
      reap_others(pid);
      if (take_ended(pid, how)) return how;
      if (ending && kill_ns == 0) {
        ::kill(-pid, SIGTERM);
        kill_ns = monotonic_now_ns() + options_.grace_ns;
      } else if (kill_ns != 0 && monotonic_now_ns() >= kill_ns) {
        ::kill(-pid, SIGKILL);
      }
      sleep_until_signal(kill_ns != 0 ? kill_ns : end_ns_);
    }
  }

  void sleep_until_signal(std::int64_t until_ns) const {
    struct pollfd fds[] = {{signals_.get(), POLLIN, 0}};
    const std::int64_t left_ns = std::max<std::int64_t>(until_ns - monotonic_now_ns(), second_ns / 1000);
    const struct timespec left = timespec_of(left_ns);
    ::ppoll(fds, 1, until_ns != 0 ? &left : nullptr, nullptr);
  }

  const JobOptions& options_;
  Fd signals_;
  std::int64_t end_ns_ = 0;
  JobOutcome outcome_;
};

}  // namespace

Result<JobOutcome> run_job(const Job& job, const JobOptions& options) {
  Result<Fd> signals = open_job_signals();
  if (!signals) return signals.error();
  adopt_orphans();
  return Runner(options, std::move(*signals)).run(job);
}

}  // namespace howlate
