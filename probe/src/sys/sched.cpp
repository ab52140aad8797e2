#include "sys/sched.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/cgroups.hpp"
#include "sys/elsewhere.hpp"
#include "sys/file.hpp"
#include "sys/granting.hpp"
#include "sys/rights.hpp"

namespace howlate {

namespace {

struct SchedAttr {  // the kernel's struct sched_attr, first version
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
  std::uint64_t deadline;
  std::uint64_t period;
};

struct KindName {
  SchedKind kind;
  std::string_view name;
  std::uint32_t kernel;
};
constexpr KindName kinds[] = {
    {SchedKind::other, "other", 0}, {SchedKind::batch, "batch", 3}, {SchedKind::idle, "idle", 5},
    {SchedKind::fifo, "fifo", 1},   {SchedKind::rr, "rr", 2},       {SchedKind::deadline, "deadline", 6},
};

const KindName& of(SchedKind kind) {
  return *std::find_if(std::begin(kinds), std::end(kinds), [&](const KindName& k) { return k.kind == kind; });
}

std::vector<std::string_view> colon_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    words.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  return words;
}

Error bad_policy(std::string_view text, std::string_view why) {
  return usage_error(in_quotes(text) + " is not a scheduling policy: " + std::string(why),
                     "Write other, fifo:80, rr:80 or deadline:200us:1ms:1ms (runtime, deadline, period)");
}

Result<SchedPolicy> parse_deadline(std::string_view text, const std::vector<std::string_view>& words) {
  if (words.size() != 4) return bad_policy(text, "deadline takes a runtime, a deadline and a period");
  std::int64_t times[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto time = parse_duration_ns(words[i + 1]);
    if (!time) return bad_policy(text, time.error().message);
    times[i] = *time;
  }
  if (times[0] <= 0 || times[0] > times[1] || times[1] > times[2])
    return bad_policy(text, "it must hold that 0 < runtime <= deadline <= period");
  return SchedPolicy{SchedKind::deadline, 0, 0, times[0], times[1], times[2]};
}

bool right_to_real_time(const SchedPolicy& policy, const Caller& caller, const Root& root) {
  if (caller.has(Capability::sys_nice)) return true;
  if (policy.kind == SchedKind::deadline) return false;
  const std::string limits = root.read_line("/proc/self/limits", "Max realtime priority").value_or("0");
  const std::string soft = limits.substr(0, limits.find(' '));
  return soft == "unlimited" || to_integer(soft).value_or(0) >= policy.priority;
}

// The doctor says the same from the facts of the caller (doctor/limit_rtprio.py).
Error lacks_right(const SchedPolicy& policy, const Caller& caller) {
  const std::string text = policy_text(policy);
  const bool limit = policy.kind != SchedKind::deadline;
  if (caller.user_namespace)
    return not_possible(
        "this user may not have " + text +
            ": this is a user namespace (a rootless container, 'unshare -U'), whose CAP_SYS_NICE "
            "counts for nothing in the scheduler",
        (limit ? "Raise 'ulimit -r' outside of it (rtprio in /etc/security/limits.conf; for a container also "
                 "'--ulimit rtprio=99 --ulimit memlock=-1'), or start"
               : "Start") +
            (" it outside: a container as root, with '" + std::string(container_options) + "'"));
  if (!caller.can_be_granted(Capability::sys_nice))
    return not_possible(
        "nobody may have " + text + " here: CAP_SYS_NICE is not among the capabilities of this container",
        "Start the container with '" + std::string(container_options) +
            "'; a unit of systemd with 'CapabilityBoundingSet=CAP_SYS_NICE CAP_IPC_LOCK'");
  const std::string grant = command_that_grants();
  return not_possible(
      "this user may not have " + text,
      (caller.root ? "Measure as root with CAP_SYS_NICE, which this root has not" : "Measure as root") +
          (grant.empty() ? std::string()
                         : "; or grant the right as root, after each build of the probe: `" + grant +
                               "` (package libcap2-bin)") +
          (limit ? "; or raise 'ulimit -r' (rtprio in /etc/security/limits.conf)" : ""));
}

// The share of real-time tasks in the caller's own group, where groups have shares (v1).
std::optional<long long> own_runtime_us(const Root& root) {
  const auto way = Cgroups(root).way_up("cpu", false);
  const auto runtime =
      way.empty() ? Result<long long>(-1LL) : root.read_integer(way.front() + "/cpu.rt_runtime_us");
  if (way.empty() || !runtime) return {};
  return *runtime;
}

Error refused_in_spite_of_the_right(const std::string& text, const Caller& caller, const Root& root) {
  if (own_runtime_us(root) == 0)
    return not_possible(
        "the kernel refuses " + text +
            " though the right is there: the caller's cgroup has no share for real-time tasks "
            "(cpu.rt_runtime_us is 0)",
        "Start from the root cgroup: `echo $$ > /sys/fs/cgroup/cpu/cgroup.procs`; or give the "
        "cgroup a share");
  if (caller.filtered)
    return not_possible(
        "the kernel refuses " + text + " though the right is there: a seccomp filter forbids it",
        "Start it without the filter: a unit of systemd with 'RestrictRealtime=no', a container with "
        "'--security-opt seccomp=unconfined'");
  return not_possible(
      "the kernel refuses " + text +
          " though the right is there, and neither a seccomp filter nor a cgroup's share is the reason",
      "Look for a security module's rule; or for RT group scheduling (CONFIG_RT_GROUP_SCHED), which "
      "'rt_group_sched=0' on the kernel's command line switches off");
}

Error deadline_refused(const SchedPolicy& policy, int error) {
  const std::string text = policy_text(policy);
  if (error == EBUSY)
    return not_possible(
        "the kernel does not admit " + text + ": the CPUs' bandwidth for SCHED_DEADLINE is not enough",
        "Ask for a smaller runtime, or end other deadline tasks");
  if (error == EPERM)
    return not_possible(
        "the kernel does not admit " + text + " for a thread that may not run on all CPUs of its root domain",
        "Run it without taskset, without a seccomp filter and outside a cpuset, or in an exclusive cpuset");
  return not_possible("the kernel refuses " + text + ": " + errno_text(error),
                      "Runtime, deadline and period must be between about 1 us and 4 s");
}

}  // namespace

Error policy_refused(const SchedPolicy& policy, int error, const Root& root) {
  const std::string text = policy_text(policy);
  if (error == EPERM && !policy.real_time() && policy.kind != SchedKind::deadline)
    return not_possible("this user may not have " + text + " at nice " + std::to_string(policy.nice) +
                            " again: the program was started at a higher one",
                        "Start it without 'nice', or raise 'ulimit -e' (nice in /etc/security/limits.conf)");
  const Caller caller = read_caller(root);
  if (error == EPERM && !right_to_real_time(policy, caller, root)) return lacks_right(policy, caller);
  const bool deadline = policy.kind == SchedKind::deadline;
  if ((error == EPERM && !deadline) || (error == ENOSYS && caller.filtered))
    return refused_in_spite_of_the_right(text, caller, root);
  if (deadline) return deadline_refused(policy, error);
  return not_possible("the kernel refuses " + text + ": " + errno_text(error));
}

Result<SchedPolicy> parse_policy(std::string_view text) {
  const auto words = colon_words(text);
  const auto* found =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const KindName& k) { return k.name == words[0]; });
  if (found == std::end(kinds)) return bad_policy(text, "its name is not known");
  if (found->kind == SchedKind::deadline) return parse_deadline(text, words);
  SchedPolicy policy{.kind = found->kind};
  if (!policy.real_time()) {
    if (words.size() != 1) return bad_policy(text, "it takes no priority");
    return policy;
  }
  if (words.size() != 2) return bad_policy(text, "it takes one priority from 1 to 99");
  const char* const end = words[1].data() + words[1].size();
  const auto [stopped, error] = std::from_chars(words[1].data(), end, policy.priority);
  if (error != std::errc{} || stopped != end || policy.priority < 1 || policy.priority > 99)
    return bad_policy(text, "its priority is from 1 to 99");
  return policy;
}

std::string policy_text(const SchedPolicy& policy) {
  std::string text(of(policy.kind).name);
  if (policy.kind == SchedKind::deadline) {
    for (const std::int64_t time : {policy.runtime_ns, policy.deadline_ns, policy.period_ns})
      text += ':' + spell_duration_ns(time);
  } else if (policy.real_time()) {
    text += ':' + std::to_string(policy.priority);
  }
  return text;
}

Status set_policy(const SchedPolicy& policy, const Root& root, pid_t task) {
  SchedAttr attr{};
  attr.size = sizeof attr;
  attr.policy = of(policy.kind).kernel;
  attr.nice = policy.nice;
  attr.priority = static_cast<std::uint32_t>(policy.priority);
  attr.runtime = static_cast<std::uint64_t>(policy.runtime_ns);
  attr.deadline = static_cast<std::uint64_t>(policy.deadline_ns);
  attr.period = static_cast<std::uint64_t>(policy.period_ns);
  if (::syscall(SYS_sched_setattr, task, &attr, 0) != 0) return policy_refused(policy, errno, root);
  const auto now = read_policy(task);
  if (!now) return now.error();
  if (!(*now == policy))
    return broken("asked for " + policy_text(policy) + ", but the kernel says " + policy_text(*now));
  return {};
}

Result<SchedPolicy> read_policy(pid_t task) {
  SchedAttr attr{};
  if (::syscall(SYS_sched_getattr, task, &attr, sizeof attr, 0) != 0)
    return broken("cannot read the scheduling policy: " + errno_text(errno));
  for (const KindName& kind : kinds) {
    if (kind.kernel != attr.policy) continue;
    SchedPolicy policy{.kind = kind.kind, .priority = static_cast<int>(attr.priority)};
    if (kind.kind == SchedKind::other || kind.kind == SchedKind::batch) policy.nice = attr.nice;
    if (kind.kind == SchedKind::deadline) {
      policy.runtime_ns = static_cast<std::int64_t>(attr.runtime);
      policy.deadline_ns = static_cast<std::int64_t>(attr.deadline);
      policy.period_ns = static_cast<std::int64_t>(attr.period);
    }
    return policy;
  }
  return broken("the kernel names a scheduling policy that is not known here: " +
                std::to_string(attr.policy));
}

Status may_have_policy(const SchedPolicy& policy, const Root& root) {
  if (elsewhere_cpus() != nullptr) return {};
  struct Try {
    const SchedPolicy& policy;
    const Root& root;
    Status status;
  } attempt{policy, root, {}};
  const auto body = [](void* context) -> void* {
    auto& it = *static_cast<Try*>(context);
    it.status = set_policy(it.policy, it.root);
    return nullptr;
  };
  pthread_t thread{};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(
      &attributes, std::size_t{512} << 10U);  // a large one would count against a limited memory lock
  const int error = ::pthread_create(&thread, &attributes, body, &attempt);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return broken("cannot start a thread: " + errno_text(error));
  ::pthread_join(thread, nullptr);
  return attempt.status;
}

ServedFirst::ServedFirst(pid_t process) : process_(process) {
  const int before = process > 0 ? ::sched_getscheduler(process) : -1;  // 0 would be the caller itself
  if (before != SCHED_OTHER && before != SCHED_BATCH && before != SCHED_IDLE) return;
  const struct sched_param lowest { .sched_priority = 1 };
  if (::sched_setscheduler(process, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0) before_ = before;
}

ServedFirst::~ServedFirst() {
  const struct sched_param none {};
  if (before_ >= 0) ::sched_setscheduler(process_, before_, &none);  // it may be gone
}

namespace {
// A set large enough for the machine, whatever its number of CPUs.
struct CpuSet {
  explicit CpuSet(int cpus) : bytes(CPU_ALLOC_SIZE(cpus)), set(CPU_ALLOC(static_cast<std::size_t>(cpus))) {
    CPU_ZERO_S(bytes, set);
  }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;
  ~CpuSet() { CPU_FREE(set); }
  std::size_t bytes;
  cpu_set_t* set;
};
constexpr int cpus_max = 8192;
}  // namespace

Status set_affinity(const std::vector<int>& cpus) {
  const CpuSet wanted(cpus_max);
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < cpus_max) CPU_SET_S(static_cast<std::size_t>(cpu), wanted.bytes, wanted.set);
  if (::sched_setaffinity(0, wanted.bytes, wanted.set) != 0)
    return broken("cannot run on CPU " + cpu_list_text(cpus) + ": " + errno_text(errno));
  if (read_affinity() != cpus)
    return broken("asked for CPU " + cpu_list_text(cpus) + ", but the kernel says " +
                  cpu_list_text(read_affinity()));
  return {};
}

std::vector<int> read_affinity() {
  if (const std::vector<int>* stated = elsewhere_cpus()) return *stated;
  const CpuSet now(cpus_max);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, now.bytes, now.set) != 0) return cpus;
  for (int cpu = 0; cpu < cpus_max; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), now.bytes, now.set)) cpus.push_back(cpu);
  return cpus;
}

bool may_move_to(int cpu) {
  const std::vector<int> before = read_affinity();
  const bool may = static_cast<bool>(set_affinity({cpu}));
  return static_cast<bool>(set_affinity(before)) && may;
}

std::string cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

Status set_timer_slack(std::int64_t slack_ns) {
  if (slack_ns == 0) return {};
  if (::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_ns), 0, 0, 0) != 0)
    return broken("cannot set the timer slack: " + errno_text(errno));
  return {};
}

std::int64_t read_timer_slack() {
  return ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
}

}  // namespace howlate
