// sleeper: how late a task that mostly sleeps is, beside tasks that never do.
//
// --tasks SCHED_OTHER tasks compute for ever on one CPU. On the same CPU a task sleeps for --sleep and works for --work, twice a point:
// as an interactive task it sleeps until an instant, as one bound by input it sleeps in read() of a pipe. timer_ns is from the instant
// for which it armed clock_nanosleep() to its first clock reading after it. pipe_ns is from the clock of the task that writes into the
// pipe, just before write(), to the sleeper's first reading after read(): the writer is one of those that compute, so it has the
// CPU at that moment. runnable_ns is the longest that this one, which never sleeps, was without the CPU within the point: its
// equals' turns and the sleeper's work. Its own cost: a clock reading in each 100 ns of the writer's computing.
#include "tests/scheduler_sleeper.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "tests/scheduler_slice.hpp"
#include "timers/work.hpp"

namespace howlate {

namespace {

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "its start, as an offset from t0"},
    {"timer_ns", ColumnType::i64, "lateness after a sleep until an instant", true},
    {"pipe_ns", ColumnType::i64, "from before the write() into a pipe until the sleeping reader runs", true},
    {"runnable_ns", ColumnType::i64, "the longest that a task that never sleeps waited for the CPU"},
    {"flags", ColumnType::u8, "0"},
};

struct Sleeper {
  Fd in, out;                              // the pipe's ends
  std::atomic<std::int64_t> write_at{0};   // when a byte is wanted; 0: not now
  std::atomic<std::int64_t> wrote_ns{0};   // the clock just before the last write()
  std::atomic<std::int64_t> waited_ns{0};  // the writer's longest gap since the point began
  std::int64_t sleep_ns = 0, work_ns = 0;
};

// The one of those that compute that writes, and that looks at its own gaps.
Status compute_and_write(const PointsThread& thread, Sleeper& sleeper) {
  std::int64_t last_ns = monotonic_now_ns();
  while (!thread.stopped()) {
    const std::int64_t now_ns = monotonic_now_ns();
    if (now_ns - last_ns > sleeper.waited_ns.load(std::memory_order_relaxed))
      sleeper.waited_ns.store(now_ns - last_ns, std::memory_order_relaxed);
    last_ns = now_ns;
    const std::int64_t write_at = sleeper.write_at.load(std::memory_order_acquire);
    if (write_at != 0 && now_ns >= write_at) {
      sleeper.write_at.store(0, std::memory_order_relaxed);
      sleeper.wrote_ns.store(monotonic_now_ns(), std::memory_order_release);
      if (::write(sleeper.out.get(), "b", 1) != 1 && errno != EINTR)
        return broken("nothing can be written into a pipe: " + errno_text(errno));
    }
    do_work(100);
  }
  return {};
}

// Negative where the run was stopped meanwhile.
std::int64_t late_by_pipe(const PointsThread& thread, Sleeper& sleeper) {
  sleeper.write_at.store(monotonic_now_ns() + sleeper.sleep_ns, std::memory_order_release);
  for (char byte = 0; ::read(sleeper.in.get(), &byte, 1) != 1;)
    if (thread.stopped()) return -1;
  return monotonic_now_ns() - sleeper.wrote_ns.load(std::memory_order_acquire);
}

Status ask(PointsThread& thread, Sleeper& sleeper) {
  const std::int64_t iterations = work_iterations(sleeper.work_ns, measure_work_speed());
  for (std::int64_t now_ns = monotonic_now_ns(); thread.more(now_ns); now_ns = monotonic_now_ns()) {
    sleeper.waited_ns.store(0, std::memory_order_relaxed);
    const std::int64_t release_ns = monotonic_now_ns() + sleeper.sleep_ns;
    sleep_until_ns(release_ns);
    const std::int64_t timer_ns = monotonic_now_ns() - release_ns;
    do_work(iterations);
    const std::int64_t pipe_ns = late_by_pipe(thread, sleeper);
    if (pipe_ns < 0) break;
    do_work(iterations);
    thread.add(now_ns - thread.t0_ns(), timer_ns, pipe_ns, sleeper.waited_ns.load(std::memory_order_relaxed),
               0);
  }
  return {};
}

Status prepare(Sleeper& sleeper, const Params& in) {
  constexpr std::int64_t most_ns = 1'000'000'000;
  sleeper.sleep_ns = in.integer("sleep");
  sleeper.work_ns = in.integer("work");
  if (sleeper.sleep_ns <= 0 || sleeper.sleep_ns > most_ns)
    return usage_error("--sleep must be more than 0 and at most 1s");
  if (sleeper.work_ns < 0 || sleeper.work_ns > most_ns) return usage_error("--work must be at most 1s");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return not_possible("there is no pipe: " + errno_text(errno));
  sleeper.in = Fd(ends[0]);
  sleeper.out = Fd(ends[1]);
  return {};
}

}  // namespace

Result<ExitCode> ask_about_sleepers(Cell& cell, PointsPlan plan, int cpu, const SchedPolicy& policy) {
  Params& in = cell.params();
  if (const Status right = check_computing_tasks(in); !right) return right.error();
  Sleeper sleeper;
  if (const Status ready = prepare(sleeper, in); !ready) return ready.error();
  for (const std::string_view name : {"tasks", "sleep", "work"})
    plan.labels.emplace_back(name, in.text(name));
  plan.columns = columns;
  plan.threads = {
      {"scheduler/sleep", {cpu}, policy, true, [&](PointsThread& thread) { return ask(thread, sleeper); }},
      {"scheduler/write", {cpu}, {}, false, [&](PointsThread& thread) {
         return compute_and_write(thread, sleeper);
       }}};
  for (std::int64_t i = 1; i < in.integer("tasks"); ++i)
    plan.threads.push_back({"scheduler/comp", {cpu}, {}, false, [](PointsThread& thread) -> Status {
                              while (!thread.stopped()) do_work(1'000);
                              return {};
                            }});
  return measure_points(cell, std::move(plan));
}

}  // namespace howlate
