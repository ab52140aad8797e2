#include "sys/thread.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>

#include "sys/file.hpp"
#include "sys/tasks.hpp"

namespace howlate {

namespace {

constexpr std::size_t stack_bytes = 512U << 10U;
constexpr std::size_t stack_touched = 64U << 10U;

struct Launch {
  ThreadSpec spec;
  std::function<void()> body;
  Root root;
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  Status status;
  ThreadInForce in_force;
};

[[gnu::noinline]] void touch_stack() {
  char pages[stack_touched];
  for (std::size_t at = 0; at < sizeof pages; at += 4096) __atomic_store_n(&pages[at], 0, __ATOMIC_RELAXED);
}

Status become(const ThreadSpec& spec, const Root& root) {
  if (spec.stack_bytes == 0) touch_stack();
  if (!spec.name.empty()) ::pthread_setname_np(::pthread_self(), spec.name.c_str());
  if (spec.enter)
    if (const Status status = spec.enter(); !status) return status;
  if (!spec.cpus.empty())
    if (const Status status = set_affinity(spec.cpus); !status) return status;
  if (const Status status = set_timer_slack(spec.timer_slack_ns); !status) return status;
  return set_policy(spec.policy, root);
}

// The runtime of the thread sanitizer ends a thread under locks that spin with sched_yield(): of two real-time threads
// of one CPU the higher one would spin for ever while the lower one holds the lock.
void leave_real_time([[maybe_unused]] const Root& root) {
#ifdef __SANITIZE_THREAD__
  static_cast<void>(set_policy({}, root));
#endif
}

void* run_thread(void* context) {
  const std::shared_ptr<Launch> launch = *static_cast<std::shared_ptr<Launch>*>(context);
  const Status status = become(launch->spec, launch->root);
  std::function<void()> body;
  {
    const std::lock_guard lock(launch->mutex);
    launch->status = status;
    const auto policy = read_policy();
    launch->in_force = {read_affinity(), policy ? *policy : SchedPolicy{}, read_timer_slack(),
                        thread_number()};
    body = std::move(launch->body);
    launch->ready = true;
    launch->changed.notify_one();
  }
  if (status) body();
  leave_real_time(launch->root);
  return nullptr;
}

}  // namespace

std::int32_t thread_number() {
  return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

std::size_t least_stack_bytes() {
  return static_cast<std::size_t>(std::max(::sysconf(_SC_THREAD_STACK_MIN), 0L));
}

Result<RtThread> RtThread::start(const ThreadSpec& spec, std::function<void()> body, const Root& root) {
  auto launch = std::make_shared<Launch>();
  launch->spec = spec;
  launch->body = std::move(body);
  launch->root = root;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  // One that is too small would be refused, and the thread get what `ulimit -s` says, all of it locked.
  ::pthread_attr_setstacksize(
      &attributes, spec.stack_bytes == 0 ? stack_bytes : std::max(spec.stack_bytes, least_stack_bytes()));
  RtThread thread;
  // The thread copies the pointer before it says that it is ready, and we wait for that.
  const int error = ::pthread_create(&thread.thread_, &attributes, run_thread, &launch);
  ::pthread_attr_destroy(&attributes);
  if (error == EAGAIN || error == ENOMEM)
    return not_possible(
        "the kernel starts no more threads: " + errno_text(error),
        "look at 'ulimit -u', the control group's pids.max, kernel.threads-max and kernel.pid_max");
  if (error != 0) return broken("cannot start a thread: " + errno_text(error));
  thread.running_ = true;
  std::unique_lock lock(launch->mutex);
  launch->changed.wait(lock, [&] { return launch->ready; });
  thread.in_force_ = launch->in_force;
  if (!launch->status) return launch->status.error();
  return thread;
}

RtThread& RtThread::operator=(RtThread&& other) noexcept {
  join();
  thread_ = other.thread_;
  running_ = std::exchange(other.running_, false);
  in_force_ = std::move(other.in_force_);
  return *this;
}

void RtThread::join() {
  if (running_) ::pthread_join(thread_, nullptr);
  running_ = false;
}

namespace {
std::int64_t read_migrations(const Root& root) {
  const auto text = root.read_text("/proc/thread-self/sched");
  const std::size_t at = text ? text->find("nr_migrations") : std::string::npos;
  const std::size_t digits = at == std::string::npos ? at : text->find_first_of("0123456789", at);
  if (digits == std::string::npos) return -1;
  std::int64_t value = -1;
  std::from_chars(text->data() + digits, text->data() + text->size(), value);
  return value;
}

// The kernel answers with those of its CPUs that are online, so that the number alone does not tell.
std::int64_t read_place() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  std::size_t first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, &set)) ++first;
  return static_cast<std::int64_t>(first) * (CPU_SETSIZE + 1) + CPU_COUNT(&set);
}
}  // namespace

ThreadCounters read_thread_usage() {
  struct rusage usage {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw, -1, 0};
}

std::optional<ThreadCounters> read_thread_usage(const Root& root, pid_t tid) {
  const std::string folder = "/proc/self/task/" + std::to_string(tid);
  const auto stat = root.read_text(folder + "/stat");
  const auto task = stat ? parse_task_stat(*stat) : Result<TaskStat>(stat.error());
  const auto status = root.read_text(folder + "/status");
  if (!task || !status) return std::nullopt;
  const auto voluntary = number_in_line(*status, "voluntary_ctxt_switches:");
  const auto involuntary = number_in_line(*status, "nonvoluntary_ctxt_switches:");
  if (!voluntary || !involuntary) return std::nullopt;
  return ThreadCounters{task->minor_faults, task->major_faults, *voluntary, *involuntary, -1, 0};
}

ThreadCounters read_thread_counters(const Root& root) {
  ThreadCounters counters = read_thread_usage();
  counters.migrations = read_migrations(root);
  counters.place = read_place();
  return counters;
}

ThreadCounters operator-(const ThreadCounters& after, const ThreadCounters& before) {
  const bool known = after.migrations >= 0 && before.migrations >= 0;
  return {after.minor_faults - before.minor_faults,
          after.major_faults - before.major_faults,
          after.voluntary_switches - before.voluntary_switches,
          after.involuntary_switches - before.involuntary_switches,
          known ? after.migrations - before.migrations : -1,
          after.place - before.place};
}

}  // namespace howlate
