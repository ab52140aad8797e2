#include "sys/guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>

#include "core/params.hpp"
#include "sys/clock.hpp"
#include "sys/sched.hpp"
#include "sys/standard.hpp"
#include "sys/undo.hpp"

namespace howlate {
namespace {

// Older C libraries do not have these calls; their numbers are the same on all architectures.
constexpr long call_pidfd_open = 434, call_close_range = 436;
// A machine without a CPU to spare measures all the same.
constexpr std::int64_t start_limit_ns = 2'000'000'000;
constexpr std::int64_t end_limit_ns = 1'000'000'000;
constexpr long nap_ns = 1'000'000;

bool may_start = false;

// Changes of the machine are begun and undone by one thread.
std::weak_ptr<Guardian>& of_this_process() {
  static std::weak_ptr<Guardian> one;
  return one;
}

struct PipeEnds {
  Fd out, in;  // to read from, to write to
};

PipeEnds new_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {Fd(ends[0]), Fd(ends[1])};
}

// Whether something is to be read, or the other end is closed, before that instant.
bool stirs(const Fd& fd, std::int64_t until_ns) {
  for (;;) {
    struct pollfd one {
      fd.get(), POLLIN, 0
    };
    const std::int64_t left_ns = std::max<std::int64_t>(until_ns - monotonic_now_ns(), 0);
    const struct timespec left = timespec_of(left_ns);
    const int found = ::ppoll(&one, 1, &left, nullptr);
    if (found >= 0 || errno != EINTR) return found > 0;
  }
}

// 1: a byte, 0: the end, -1: neither.
ssize_t take_byte(int fd) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(fd, &byte, 1)) < 0 && errno == EINTR) {
  }
  return got;
}

std::vector<int> left_without(std::vector<int> some) {
  const std::vector<int> all = read_affinity();
  std::vector<int> rest;
  std::sort(some.begin(), some.end());
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest.empty() ? all : rest;
}

// In a session of its own, where neither Ctrl-C nor the end of a group reaches it. What asks a probe to end does not end it either:
// it ends with the probe.
struct SpawnAttributes {
  posix_spawnattr_t value;

  SpawnAttributes() {
    ::posix_spawnattr_init(&value);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&value, &all);
    ::posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&value); }
};

// Nothing of the probe's: whoever reads the probe's output sees its end when the probe dies.
struct SpawnActions {
  posix_spawn_file_actions_t value;

  SpawnActions(const Fd& in, const Fd& out) {
    ::posix_spawn_file_actions_init(&value);
    ::posix_spawn_file_actions_adddup2(&value, in.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&value, out.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&value, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&value); }
};

// What the probe had from whoever started it, beyond the standard streams.
void close_others() {
  constexpr unsigned first = STDERR_FILENO + 1;
  if (::syscall(call_close_range, first, ~0U, 0) == 0) return;  // Linux 5.9
  for (const std::string& name : Root().list("/proc/self/fd"))
    if (const auto fd = to_integer(name); fd && *fd >= first) ::close(static_cast<int>(*fd));
}

void settle_down(const std::vector<int>& cpus) {
  ::prctl(PR_SET_NAME, guardian_name);
  close_others();
  struct sched_param none {};
  const auto policy = read_policy();
  if (!policy || policy->real_time()) ::sched_setscheduler(0, SCHED_OTHER, &none);
  static_cast<void>(set_affinity(cpus));
}

// Until the process has ended, or lets this one end (false). Without a descriptor for it (before Linux 5.3) the end of the pipe
// tells; the process, or a fork of it that holds the pipe as well, is then about to end.
bool await_end(const JournalOwner& owner) {
  const auto pid = static_cast<pid_t>(owner.pid);
  const Fd process(static_cast<int>(::syscall(call_pidfd_open, pid, 0)));
  struct pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {process.get(), POLLIN, 0}};
  while (::getppid() == pid) {  // else it ended before there was a descriptor, which may then be another's
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[0].revents != 0 && take_byte(STDIN_FILENO) == 1) return false;
    if (waits[1].revents != 0 || (waits[0].revents != 0 && !process.valid())) break;
    if (waits[0].revents != 0) waits[0].fd = -1;
  }
  const struct timespec nap = {0, nap_ns};
  while (process_lives(owner)) ::nanosleep(&nap, nullptr);
  return true;
}

}  // namespace

void Guardian::allow() {
  may_start = true;
}

std::shared_ptr<Guardian> Guardian::of(const JournalOwner& owner, const std::vector<int>& away_from) {
  if (!may_start) return nullptr;
  std::shared_ptr<Guardian> guardian = of_this_process().lock();
  if (guardian && guardian->owner_ == ::getpid()) return guardian;
  guardian.reset(new Guardian);
  if (!guardian->start(owner, left_without(away_from))) return nullptr;
  of_this_process() = guardian;
  return guardian;
}

bool Guardian::start(const JournalOwner& owner, const std::vector<int>& cpus) {
  PipeEnds orders = new_pipe(), signs = new_pipe();
  if (!orders.in.valid() || !signs.in.valid()) return false;
  std::vector<std::string> words = guardian_words(owner, cpus);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const SpawnAttributes attributes;
  const SpawnActions actions(orders.out, signs.in);
  pid_t pid = 0;
  if (::posix_spawn(&pid, "/proc/self/exe", &actions.value, &attributes.value, argv.data(), environ) != 0)
    return false;
  pid_ = pid;
  owner_ = ::getpid();
  heard_ = std::move(orders.out);
  orders_ = std::move(orders.in);
  signs_ = std::move(signs.out);
  signs.in.reset();
  if (stirs(signs_, monotonic_now_ns() + start_limit_ns)) static_cast<void>(take_byte(signs_.get()));
  return true;
}

Guardian::~Guardian() {
  if (pid_ == 0 || owner_ != ::getpid()) return;
  const char end = 'e';
  if (::write(orders_.get(), &end, 1) != 1) return;
  const std::int64_t until_ns = monotonic_now_ns() + end_limit_ns;
  while (stirs(signs_, until_ns)) {
    if (take_byte(signs_.get()) > 0) continue;  // the sign that start() did not wait for
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    return;
  }
}

std::vector<std::string> guardian_words(const JournalOwner& owner, const std::vector<int>& cpus) {
  return {guardian_name, std::string(guardian_word), std::to_string(owner.pid),
          std::to_string(owner.start_ticks), cpu_list_text(cpus)};
}

Result<GuardianOrders> read_guardian_words(const std::vector<std::string>& words) {
  const Error wrong = usage_error("a guardian is started by the probe itself", "see howlate-probe --help");
  if (words.size() != 3) return wrong;
  const auto pid = to_integer(words[0]), ticks = to_integer(words[1]);
  auto cpus = parse_cpu_list(words[2]);
  if (!pid || *pid <= 0 || !ticks || !cpus) return wrong;
  GuardianOrders orders;
  const auto self = this_process("/");
  if (!self) return self.error();
  orders.owner = {self->boot_id, *pid, *ticks, self->root, self->pids};
  orders.cpus = std::move(*cpus);
  return orders;
}

ExitCode guardian_command(const std::vector<std::string>& words) {
  const auto orders = read_guardian_words(words);
  if (!orders) return complain(orders.error());
  settle_down(orders->cpus);
  const char asleep = 'a';
  static_cast<void>(::write(STDOUT_FILENO, &asleep, 1) == 1);
  if (!await_end(orders->owner)) return ExitCode::done;
  return undo_journals_of(orders->owner) ? ExitCode::done : ExitCode::broken;
}

}  // namespace howlate
