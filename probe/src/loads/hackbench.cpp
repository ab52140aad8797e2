// hackbench: groups of senders and receivers that pass small messages through sockets or pipes, over and over; its own run
// time is a result.
//
// The procedure is the well-known one, so that run times can be compared: a group has `fds` senders and `fds` receivers, a
// socket pair (or pipe) for each receiver, and every sender writes `loops` times one message of `datasize` bytes to every
// receiver of its group. A run begins, on the clock, when all tasks have been made and have said that they are ready, and ends
// when all of them have ended. Then the next run begins.
// Disturbs: context switches, wake-ups, run queues as long as there are tasks, socket buffers (slab), fork and exit of all
// tasks between runs.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "loads/base/family.hpp"
#include "loads/base/figures.hpp"
#include "loads/base/memory.hpp"
#include "loads/load.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

constexpr Need config[] = {{"NET"}, {"UNIX"}};

constexpr ParamSpec options[] = {
    {"loops", ParamType::count, "100", "1", "", "messages from each sender to each receiver in a run"},
    {"datasize", ParamType::bytes, "100", "B", "", "size of a message"},
    {"fds", ParamType::count, "20", "1", "", "senders in a group, and as many receivers"},
    {"pipe", ParamType::flag, "", "", "", "pipes instead of sockets"},
    {"threads", ParamType::flag, "", "", "", "threads instead of processes"},
};

enum Figure : std::size_t { runs, sum_ns, min_ns, max_ns, started_ns, first_run };
constexpr Times run_times = {runs, sum_ns, min_ns, max_ns};
constexpr std::size_t runs_kept = WorkerSlot::figure_count - first_run;

struct Shape {
  std::size_t groups, fds, loops, bytes;
  bool pipes, threads;
  explicit Shape(const Params& params)
      : groups(static_cast<std::size_t>(params.integer("target"))),
        fds(static_cast<std::size_t>(params.integer("fds"))),
        loops(static_cast<std::size_t>(params.integer("loops"))),
        bytes(static_cast<std::size_t>(params.integer("datasize"))),
        pipes(params.flag("pipe")),
        threads(params.flag("threads")) {}
  [[nodiscard]] std::int64_t tasks() const {
    return saturated_product({static_cast<std::int64_t>(groups), static_cast<std::int64_t>(fds), 2});
  }
};

// Memory of a task beside its message: stacks, page tables, the kernel's account of it, its part of the buffers.
constexpr std::int64_t task_bytes = std::int64_t{128} << 10U;

std::int64_t memory(const Params& params, std::size_t /*workers*/) {
  std::int64_t one = 0;
  if (__builtin_add_overflow(params.integer("datasize"), task_bytes, &one)) one = INT64_MAX;
  return saturated_product({params.integer("target"), params.integer("fds"), 2, one});
}

Status check(const Params& params, std::size_t /*workers*/) {
  for (const char* name : {"target", "fds", "loops", "datasize"})
    if (params.integer(name) < 1 || params.integer(name) > 1'000'000)
      return usage_error("hackbench: " + std::string(name) + " must be from 1 to 1000000");
  const Shape shape(params);
  if (shape.tasks() > 100'000)
    return usage_error("hackbench with " + std::to_string(shape.groups) + " groups would be " +
                           std::to_string(shape.tasks()) + " tasks",
                       "choose at most " + std::to_string(100'000 / (2 * shape.fds)) + " groups");
  if (const Status fits =
          check_total_memory("hackbench with " + std::to_string(shape.tasks()) + " tasks", memory(params, 1),
                             "choose fewer groups or a smaller --datasize");
      !fits)
    return fits;
  struct rlimit files {
  }, tasks{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NPROC, &tasks);
  const std::size_t files_wanted = (shape.threads ? shape.groups * shape.fds * 2 : shape.fds + 2) + 16;
  if (files.rlim_max != RLIM_INFINITY && files_wanted > files.rlim_max)
    return not_possible("hackbench needs " + std::to_string(files_wanted) + " open files and the limit is " +
                            std::to_string(files.rlim_max),
                        "raise 'ulimit -Hn', or choose fewer groups");
  if (files.rlim_cur != RLIM_INFINITY && files_wanted > files.rlim_cur) {
    files.rlim_cur = files.rlim_max;  // its own limit, within what it is allowed
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  if (::geteuid() != 0 && tasks.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(shape.tasks()) + 16 > tasks.rlim_cur)
    return not_possible("hackbench needs " + std::to_string(shape.tasks()) + " tasks and the limit is " +
                            std::to_string(tasks.rlim_cur),
                        "raise 'ulimit -u', or choose fewer groups");
  return {};
}

bool write_whole(int fd, const char* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t many = ::write(fd, data + done, bytes - done);
    if (many < 0 && errno == EINTR) continue;
    if (many <= 0) return false;
    done += static_cast<std::size_t>(many);
  }
  return true;
}

bool read_whole(int fd, char* data, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t many = ::read(fd, data + done, bytes - done);
    if (many < 0 && errno == EINTR) continue;
    if (many <= 0) return false;
    done += static_cast<std::size_t>(many);
  }
  return true;
}

// What all tasks of a run share: they say that they are ready, and wait for the go.
struct StartPipes {
  int ready_write = -1;
  int go_read = -1;

  [[nodiscard]] bool pass() const {
    if (!write_whole(ready_write, "r", 1)) return false;
    struct pollfd go {
      go_read, POLLIN, 0
    };
    while (::poll(&go, 1, -1) < 0 && errno == EINTR) {
    }
    return (go.revents & POLLIN) != 0;
  }
};

struct Task {
  const Shape* shape;
  StartPipes gate;
  WorkerSlot* slot;                                  // counts the messages that were received
  std::shared_ptr<const std::vector<int>> sends_to;  // a sender's; else null
  int receives_from = -1;

  // Its part of the run. False when a message could not be passed.
  [[nodiscard]] bool run() const {
    std::vector<char> message(shape->bytes, 'h');
    if (!gate.pass()) return false;
    if (!sends_to) {
      for (std::size_t i = 0; i < shape->loops; ++i) {
        for (std::size_t sender = 0; sender < shape->fds; ++sender)
          if (!read_whole(receives_from, message.data(), message.size())) return false;
        slot->units.fetch_add(static_cast<std::int64_t>(shape->fds), std::memory_order_relaxed);
      }
      return true;
    }
    for (std::size_t i = 0; i < shape->loops; ++i)
      for (const int fd : *sends_to)
        if (!write_whole(fd, message.data(), message.size())) return false;
    return true;
  }
};

void* thread_body(void* context) {
  const std::unique_ptr<Task> task(static_cast<Task*>(context));
  return task->run() ? nullptr : reinterpret_cast<void*>(std::intptr_t{1});
}

Error too_many(const Shape& shape, int error) {
  return not_possible(
      "hackbench cannot start " + std::to_string(shape.tasks()) + " tasks: " + errno_text(error),
      "look at 'ulimit -u' and 'ulimit -n', the control group's pids.max and kernel.pid_max, or choose fewer "
      "groups");
}

// One run: makes the tasks, lets them go, waits for them all.
class Run {
 public:
  Run(const Shape& shape, WorkerSlot& slot) : shape_(shape), slot_(slot) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    for (const int fd : open_) ::close(fd);
  }

  Status make() {
    clear_children(slot_);
    int ready[2], go[2];
    if (::pipe(ready) != 0) return too_many(shape_, errno);
    open_.insert(open_.end(), {ready[0], ready[1]});
    if (::pipe(go) != 0) return too_many(shape_, errno);
    open_.insert(open_.end(), {go[0], go[1]});
    ready_read_ = ready[0];
    go_write_ = go[1];
    gate_ = {ready[1], go[0]};
    for (std::size_t group = 0; group < shape_.groups; ++group)
      if (const Status status = make_group(); !status) return status;
    char byte;
    for (std::int64_t i = 0; i < shape_.tasks(); ++i)
      if (!read_whole(ready_read_, &byte, 1)) return broken("hackbench: a task ended before the run");
    return {};
  }

  Result<std::int64_t> time_ns() {
    const std::int64_t start_ns = monotonic_now_ns();
    put_figure(slot_, started_ns, start_ns);
    if (!write_whole(go_write_, "g", 1)) return broken("hackbench: the run cannot be let go");
    const bool whole = shape_.threads ? join_threads() : wait_processes();
    const std::int64_t end_ns = monotonic_now_ns();
    if (!whole) return broken("hackbench: a task failed to pass its messages");
    return end_ns - start_ns;
  }

 private:
  // A receiver's two ends: first reads, second is written to.
  Status connect(int (&ends)[2]) const {
    const int made = shape_.pipes ? ::pipe(ends) : ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    return made == 0 ? Status() : too_many(shape_, errno);
  }

  Status make_group() {
    auto outs = std::make_shared<std::vector<int>>();
    Status status;
    for (std::size_t i = 0; i < shape_.fds && status.ok(); ++i) {
      int ends[2];
      if (status = connect(ends); !status) break;
      outs->push_back(ends[1]);
      if (shape_.threads) open_.insert(open_.end(), {ends[0], ends[1]});
      status = start({&shape_, gate_, &slot_, nullptr, ends[0]}, *outs);
      if (!shape_.threads) ::close(ends[0]);
    }
    for (std::size_t i = 0; i < shape_.fds && status.ok(); ++i)
      status = start({&shape_, gate_, &slot_, outs, -1}, {});
    if (!shape_.threads)
      for (const int fd : *outs) ::close(fd);
    return status;
  }

  // `not_its` is closed in a process: a receiver that held the sending ends would never see them closed.
  Status start(Task task, const std::vector<int>& not_its) {
    if (shape_.threads) {
      pthread_attr_t attributes;
      ::pthread_attr_init(&attributes);
      ::pthread_attr_setstacksize(&attributes, 64 * 1024);
      pthread_t thread;
      auto own = std::make_unique<Task>(std::move(task));
      const int error = ::pthread_create(&thread, &attributes, thread_body, own.get());
      ::pthread_attr_destroy(&attributes);
      if (error != 0) return too_many(shape_, error);
      [[maybe_unused]] const Task* taken = own.release();
      threads_.push_back(thread);
      return {};
    }
    const pid_t pid = fork_child();
    if (pid < 0) return too_many(shape_, errno);
    if (pid == 0) {
      for (const int fd : not_its) ::close(fd);
      ::_exit(task.run() ? 0 : 1);
    }
    ++processes_;
    add_child(slot_, pid);
    return {};
  }

  bool join_threads() {
    bool whole = true;
    for (const pthread_t thread : threads_) {
      void* failed = nullptr;
      ::pthread_join(thread, &failed);
      whole = whole && failed == nullptr;
    }
    return whole;
  }

  bool wait_processes() {
    bool whole = true;
    for (std::size_t left = processes_; left > 0; --left) {
      int how = 0;
      pid_t pid = 0;
      do {
        pid = ::waitpid(-1, &how, 0);
      } while (pid < 0 && errno == EINTR);
      if (pid < 0) return false;
      whole = whole && WIFEXITED(how) && WEXITSTATUS(how) == 0;
      remove_child(slot_, pid);
    }
    return whole;
  }

  const Shape& shape_;
  WorkerSlot& slot_;
  StartPipes gate_;
  int ready_read_ = -1, go_write_ = -1;
  std::vector<int> open_;
  std::size_t processes_ = 0;
  std::vector<pthread_t> threads_;
};

void record(WorkerSlot& slot, std::int64_t run_ns) {
  const auto count = static_cast<std::size_t>(figure(slot, runs));
  if (count < runs_kept) put_figure(slot, first_run + count, run_ns);
  put_figure(slot, started_ns, 0);
  add_time(slot, run_times, run_ns);
}

Status work(Worker& worker) {
  const Shape shape(worker.params);
  for (bool ready = false;; ready = true) {
    Run run(shape, worker.slot);
    if (const Status status = run.make(); !status) return status;
    if (!ready) worker.say_ready();
    worker.slot.restarts.fetch_add(1, std::memory_order_relaxed);
    const Result<std::int64_t> run_ns = run.time_ns();
    if (!run_ns) return run_ns.error();
    record(worker.slot, *run_ns);
  }
}

LoadRounds rounds(const WorkerSlot& slot) {
  LoadRounds all{figure(slot, runs), {}};
  for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(all.made), runs_kept); ++i)
    all.kept_ns.push_back(figure(slot, first_run + i));
  return all;
}

// The run times are those of the first 635 runs; mean, minimum and maximum are of all.
void results(const WorkerSlot& slot, JsonWriter& json) {
  const LoadRounds all = rounds(slot);
  json.member("runs", all.made).key("run_ns").begin_array();
  for (const std::int64_t run_ns : all.kept_ns) json.value(run_ns);
  json.end_array();
  tell_times(json, "run_ns", slot, run_times);
  json.member("running", figure(slot, started_ns) != 0);  // a run was cut by the end
}

}  // namespace

extern const Load load_hackbench;
const Load load_hackbench = {
    .name = "hackbench",
    .summary = "groups of senders and receivers that pass messages, run after run",
    .unit = "messages",
    .target = {"target", ParamType::count, "10", "1", "", "groups"},
    .params = options,
    .alone = "*",
    // In virtual time, 10 groups on one CPU, messages came at 0 to 460,000 a second in windows of 31 ms, in a pattern as long as a run.
    .alone_ns = 1'000'000'000,
    .action = {.name = "messages", .wanted = 1000},
    .spread = Spread::one,
    .memory = memory,
    .check = check,
    .work = work,
    .results = results,
    .rounds = rounds,
    .config = config,
};

}  // namespace howlate
