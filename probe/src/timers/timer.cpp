#include "timers/timer.hpp"

#include <signal.h>

#include <array>
#include <string>
#include <vector>

#include "core/text.hpp"

namespace howlate {

namespace {

constexpr std::array<std::string_view, 3> policy_names = {"skip", "backlog", "as-published"};

// The names of the timers for which `wanted` holds, for a remedy.
template <class Predicate>
std::string names_of(Predicate wanted) {
  std::vector<std::string_view> names;
  for (const Timer* timer : timers())
    if (wanted(*timer)) names.push_back(timer->name);
  return join(names, ", ");
}

// The timers of the cores that a probe can be built with, by how their names begin.
struct CoreTimers {
  std::string_view prefix;
  std::string_view core;
  std::string_view option;
};
constexpr CoreTimers core_timers[] = {{"cobalt", "Cobalt", "--with-cobalt"},
                                      {"alchemy", "Cobalt", "--with-cobalt"},
                                      {"evl", "EVL", "--with-evl"}};

Status check_period(const Timer& timer, std::int64_t period_ns) {
  const std::string period = "a period of " + spell_duration_ns(period_ns);
  if (period_ns % timer.period_step_ns != 0) {
    const std::int64_t whole = period_ns - period_ns % timer.period_step_ns;
    return usage_error(in_quotes(timer.name) + " cannot keep " + period + ": its periods are multiples of " +
                           spell_duration_ns(timer.period_step_ns),
                       "choose " + spell_duration_ns(whole) + " or another timer");
  }
  if (timer.windows && period_ns > spin_window_ns)
    return usage_error(in_quotes(timer.name) + " spins for " + spell_duration_ns(spin_window_ns) +
                           " in each second, and " + period + " is longer",
                       "choose a period of at most " + spell_duration_ns(spin_window_ns));
  return {};
}

Status check_policy(const Timer& timer, const SchedPolicy& policy) {
  if (timer.core.empty() || policy.kind == SchedKind::fifo) return {};
  if (policy.kind == SchedKind::rr && !timer.in_kernel) return {};
  const std::string task = in_quotes(timer.name) + " wakes a task of a real-time core, ";
  if (policy.kind == SchedKind::rr)
    return usage_error(task + "which runs in the kernel as fifo and has no time slice",
                       "choose --policy fifo:" + std::to_string(policy.priority));
  return not_possible(task + "which runs as fifo or rr and not as " + policy_text(policy),
                      "choose --policy fifo:80, as root");
}

}  // namespace

Result<const Timer*> find_built_timer(std::string_view name) {
  auto found = find_timer(name);
  if (found) return found;
  for (const CoreTimers& core : core_timers)
    if (name == core.prefix || name.starts_with(std::string(core.prefix) + "-"))
      return not_possible(
          "the timer " + in_quotes(name) + " is " + std::string(core.core) +
              "'s, and this probe was built without it",
          "`./dev probe " + std::string(core.option) + "` builds one with it (docs/cores.md)");
  return found;
}

std::span<const std::string_view> late_policies(const Timer& timer) {
  return std::span(policy_names).first(timer.as_published ? 3 : 2);
}

std::string_view late_policy_name(LatePolicy policy) {
  return policy_names[static_cast<std::size_t>(policy)];
}

Result<LatePolicy> parse_late_policy(std::string_view text) {
  for (const LatePolicy policy : {LatePolicy::skip, LatePolicy::backlog, LatePolicy::as_published})
    if (late_policy_name(policy) == text) return policy;
  return unknown_name("late policy", text, policy_names);
}

Status check_timer_use(const Timer& timer, const TimerUse& use) {
  if (Status period = check_period(timer, use.period_ns); !period) return period;
  if (use.late_policy == LatePolicy::as_published && !timer.as_published)
    return nowhere_possible("the published loop is not one of " + in_quotes(timer.name) + "'s",
                            "Choose the late policy skip or backlog, or the timer " +
                                names_of([](const Timer& other) { return other.as_published; }));
  if (use.dither && !timer.armed_each_activation)
    return nowhere_possible(
        "the kernel repeats " + in_quotes(timer.name) + " by itself, so its releases cannot be dithered",
        "Measure it without dither, or choose a timer that is armed for each activation: " +
            names_of([](const Timer& other) { return other.armed_each_activation; }));
  if (use.threads > 1 && timer.one_thread)
    return nowhere_possible(in_quotes(timer.name) +
                                " belongs to the whole process and can wake one thread only, not " +
                                std::to_string(use.threads),
                            "Measure on one CPU, or choose another timer: " +
                                names_of([](const Timer& other) { return !other.one_thread; }));
  for (const SchedPolicy& policy : use.policies)
    if (Status fits = check_policy(timer, policy); !fits) return fits;
  return {};
}

int kick_signal() {
  static const int installed = [] {
    const int number = SIGRTMIN + 1;
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(number, &action, nullptr);  // no SA_RESTART: the kick shall interrupt
    return number;
  }();
  return installed;
}

}  // namespace howlate
