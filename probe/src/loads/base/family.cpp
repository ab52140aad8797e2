#include "loads/base/family.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/process.hpp"

namespace howlate {

pid_t fork_child() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!end_with_parent(SIGKILL, parent)) ::_exit(0);  // the parent died between the fork and this
  for (const int end : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE}) ::signal(end, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return 0;
}

namespace {
std::int64_t ended_children_cpu_ns() {
  struct rusage ended {};
  ::getrusage(RUSAGE_CHILDREN, &ended);
  const std::int64_t ended_us =
      (static_cast<std::int64_t>(ended.ru_utime.tv_sec) + ended.ru_stime.tv_sec) * 1'000'000 +
      ended.ru_utime.tv_usec + ended.ru_stime.tv_usec;
  return ended_us * 1000;
}
}  // namespace

void clear_children(WorkerSlot& slot) {
  slot.children_count.store(0, std::memory_order_release);
}

void add_child(WorkerSlot& slot, pid_t child) {
  const std::uint32_t count = slot.children_count.load(std::memory_order_relaxed);
  if (slot.children == nullptr || count >= WorkerSlot::children_max) return;
  slot.children[count].store(child, std::memory_order_relaxed);
  slot.children_count.store(count + 1, std::memory_order_release);
}

void remove_child(WorkerSlot& slot, pid_t child) {
  slot.ended_cpu_ns.store(ended_children_cpu_ns(), std::memory_order_relaxed);
  const std::uint32_t count = slot.children_count.load(std::memory_order_relaxed);
  for (std::uint32_t at = 0; at < count; ++at) {
    if (slot.children[at].load(std::memory_order_relaxed) != child) continue;
    slot.children[at].store(0, std::memory_order_release);
    return;
  }
}

std::int64_t family_cpu_ns(const WorkerSlot& slot, pid_t worker) {
  std::int64_t cpu_ns = process_cpu_ns(worker) + slot.ended_cpu_ns.load(std::memory_order_relaxed);
  const std::uint32_t count = slot.children_count.load(std::memory_order_acquire);
  for (std::uint32_t at = 0; at < count; ++at)
    if (const pid_t child = slot.children[at].load(std::memory_order_acquire); child != 0)
      cpu_ns += process_cpu_ns(child);
  return cpu_ns;
}

std::int64_t own_cpu_ns() {
  struct timespec own {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  return ns_of(own) + ended_children_cpu_ns();
}

std::int64_t process_cpu_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return ns_of(used);
}

}  // namespace howlate
