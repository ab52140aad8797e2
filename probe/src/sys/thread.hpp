// The one way to make a thread whose scheduling matters, and what the kernel counted of a thread.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

struct ThreadSpec {
  std::vector<int> cpus;  // the CPUs on which it may run; empty: as its creator
  SchedPolicy policy;
  std::int64_t timer_slack_ns = 0;  // 0: as found
  std::string name = {};  // as ps and the kernel's traces show it, 15 characters; empty: as the program
  std::function<Status()> enter = {};  // on the thread, before CPUs and policy are set: into a control group
  std::size_t stack_bytes = 0;         // 0: a stack of ample size, touched
};

std::int32_t thread_number();  // of the calling thread, as the kernel's traces show it

// The smallest stack that the C library gives a thread (128 KiB on aarch64).
std::size_t least_stack_bytes();

// The values read back on the thread itself.
struct ThreadInForce {
  std::vector<int> cpus;
  SchedPolicy policy;
  std::int64_t timer_slack_ns = 0;
  pid_t tid = 0;
};

// A thread with a touched stack, configured as the spec says before its body begins. Joined by the destructor.
class RtThread {
 public:
  RtThread() = default;
  // Returns when the thread is configured and about to enter `body`; otherwise with the reason, and no
  // thread is left.
  static Result<RtThread> start(const ThreadSpec& spec, std::function<void()> body, const Root& root = {});
  RtThread(RtThread&& other) noexcept
      : thread_(other.thread_),
        running_(std::exchange(other.running_, false)),
        in_force_(std::move(other.in_force_)) {}
  RtThread& operator=(RtThread&& other) noexcept;
  RtThread(const RtThread&) = delete;
  RtThread& operator=(const RtThread&) = delete;
  ~RtThread() { join(); }

  void join();
  void kick(int signal) const {
    if (running_) ::pthread_kill(thread_, signal);
  }
  [[nodiscard]] const ThreadInForce& in_force() const { return in_force_; }

 private:
  pthread_t thread_{};
  bool running_ = false;
  ThreadInForce in_force_;
};

// What the kernel has counted of the calling thread so far.
struct ThreadCounters {
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t migrations = -1;  // -1: this kernel does not say (no /proc/thread-self/sched)
  // Of the CPUs that it may use; differs where the kernel took its CPU offline, also if that is back, or somebody changed its affinity.
  std::int64_t place = 0;
};
ThreadCounters read_thread_counters(const Root& root);
ThreadCounters read_thread_usage();  // without the migrations: one system call, no file
// The same of another thread of this process; nothing once it has ended.
std::optional<ThreadCounters> read_thread_usage(const Root& root, pid_t tid);
// after - before; unknown values stay unknown.
ThreadCounters operator-(const ThreadCounters& after, const ThreadCounters& before);

}  // namespace howlate
