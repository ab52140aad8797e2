// scheduler: when the scheduler gives a task the CPU, asked with --question. All tasks are on one CPU.
//
// syscall: a wake-up while another task computes, and while it is inside a long system call. From: the instant for which the
// measuring task armed clock_nanosleep(). To: its first reading of the clock. user_ns and syscall_ns are two wake-ups of one point.
// inversion: a task waits for a mutex whose owner, of lower priority, was made to wait by one in between that never
// touches it. From: the clock before the lock. To: after it. inherit_ns with PTHREAD_PRIO_INHERIT, plain_ns without.
// throttling: a FIFO task does not yield, and an ordinary one waits for the CPU. From: the begin of the spinning. To: the instant at
// which the CPU was taken (ran_ns), and from there to its return (gap_ns); a gap in which the other task ran, nothing else.
// tasks: a task wakes another and then waits, while many others are there (scheduler_tasks.cpp): wake_up_ns, switch_ns.
// slice: how long a task runs before its equal takes over (scheduler_slice.cpp): run_ns, away_ns.
// shares: the CPU time of two tasks with different nice values (scheduler_shares.cpp): nice0_ns, niced_ns.
// sleeper: a task that mostly sleeps, beside tasks that never do (scheduler_sleeper.cpp): timer_ns, pipe_ns, runnable_ns.
// Its own cost: two clock readings a time. It disturbs its CPU: with throttling up to --spin in one piece. Source: what a designer should
// know of the scheduler (rts7751-2007, part one). docs/tests/scheduler.md tells more.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "core/text.hpp"
#include "points/points.hpp"
#include "switches/locks.hpp"
#include "sys/file.hpp"
#include "tests/scheduler_points.hpp"
#include "tests/scheduler_shares.hpp"
#include "tests/scheduler_sleeper.hpp"
#include "tests/scheduler_slice.hpp"
#include "tests/scheduler_tasks.hpp"
#include "tests/test.hpp"
#include "timers/work.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"question", ParamType::choice, "syscall", "", "syscall|inversion|throttling|tasks|slice|shares|sleeper",
     "what is asked"},
    {"hold", ParamType::duration, "1ms", "ns", "", "inversion: how long the owner works with the mutex"},
    {"between", ParamType::duration, "10ms", "ns", "", "inversion: how long the task in between works"},
    {"long-call", ParamType::choice, "read", "", "read|poll",
     "syscall: a read() of zeros, in which the kernel offers the CPU after each page, or a poll(), in which "
     "it does not"},
    {"call", ParamType::bytes, "4MiB", "B", "", "syscall: how many bytes one read() of zeros asks for"},
    {"tasks", ParamType::count, "1", "1", "",
     "tasks: how many there are beside the two, at most 4096; slice, sleeper: how many compute beside "
     "the measured task, 1 to 64"},
    {"tasks-state", ParamType::choice, "runnable", "", "runnable|sleeping",
     "tasks: the state of these tasks"},
    {"spin", ParamType::duration, "3s", "ns", "",
     "throttling: give a point up after this time without a gap"},
    {"rest", ParamType::duration, "1200ms", "ns", "", "throttling: sleep this long before each point"},
    {"nice", ParamType::integer, "5", "1", "", "shares: the second task's nice value; the first one's is 0"},
    {"window", ParamType::duration, "250ms", "ns", "", "shares: length of a data point"},
    {"sleep", ParamType::duration, "9ms", "ns", "", "sleeper: how long it sleeps, twice a point"},
    {"work", ParamType::duration, "1ms", "ns", "", "sleeper: how long it works after each sleep"},
    points_param("20"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    points_occupy_all,
};

constexpr ColumnSpec syscall_columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "when, as an offset from t0"},
    {"user_ns", ColumnType::i64, "wake-up while another task computes", true},
    {"syscall_ns", ColumnType::i64, "wake-up while another task is inside a long system call", true},
    {"flags", ColumnType::u8, "0"},
};
constexpr ColumnSpec inversion_columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "when, as an offset from t0"},
    {"inherit_ns", ColumnType::i64, "wait for a mutex with priority inheritance", true},
    {"plain_ns", ColumnType::i64, "wait for a mutex without", true},
    {"flags", ColumnType::u8, "0"},
};
constexpr ColumnSpec throttling_columns[] = {
    {"index", ColumnType::i64, "number of the data point"},
    {"time_ns", ColumnType::i64, "when the CPU was taken, as an offset from t0"},
    {"ran_ns", ColumnType::i64, "from the begin of the spinning to that"},
    {"gap_ns", ColumnType::i64, "until the CPU was given back", true},
    {"flags", ColumnType::u8, "bit 1: switched out (all of them)"},
};

struct Question {
  Cell& cell;
  PointsPlan& plan;
  int cpu;
  SchedPolicy policy;

  void add(std::string name, SchedPolicy as, bool records, std::function<Status(PointsThread&)> body) const {
    plan.threads.push_back({std::move(name), {cpu}, as, records, std::move(body)});
  }
  [[nodiscard]] SchedPolicy below(int levels) const {
    return {.kind = policy.kind, .priority = policy.priority - levels};
  }
};

// ---- syscall ----

enum Doing : int { computing, calling };

struct Busy {
  Fd zeros;
  std::vector<std::byte> into;
  std::vector<struct pollfd> descriptors;  // of a poll(); empty where it is a read()
  std::atomic<int> wanted{computing};
  std::atomic<int> doing{computing};
  std::atomic<std::int64_t> call_ns{0};  // of the shortest call, as the caller sees it
};

// Either looks at memory or descriptors, one after the other, and never waits.
bool make_call(Busy& busy) {
  if (!busy.descriptors.empty()) return ::poll(busy.descriptors.data(), busy.descriptors.size(), 0) >= 0;
  return ::read(busy.zeros.get(), busy.into.data(), busy.into.size()) >= 0;
}

// As many descriptors as this process may name, which is what one poll() takes. All are the same.
Status prepare_poll(Busy& busy) {
  struct rlimit files {};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = descriptors_to_name(files.rlim_cur, files.rlim_max);  // its own limit
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto count = static_cast<std::size_t>(std::min(files.rlim_cur, descriptors_enough));
  busy.descriptors.assign(count, {busy.zeros.get(), POLLPRI, 0});
  return {};
}

Status be_busy(PointsThread& thread, Busy& busy) {
  std::int64_t least_ns = INT64_MAX;
  while (!thread.stopped()) {
    const int now = busy.wanted.load(std::memory_order_acquire);
    busy.doing.store(now, std::memory_order_release);
    if (now == computing) {
      do_work(10'000);
      continue;
    }
    const std::int64_t before_ns = monotonic_now_ns();
    if (!make_call(busy) && errno != EINTR)
      return broken("the long system call failed: " + errno_text(errno));
    least_ns = std::min(least_ns, monotonic_now_ns() - before_ns);
    busy.call_ns.store(least_ns, std::memory_order_relaxed);
  }
  return {};
}

// One wake-up, at an instant that walks through the other's call; not while the other still does what was asked before.
std::int64_t woken_late_by(PointsThread& thread, Busy& busy, int doing, std::int64_t step) {
  busy.wanted.store(doing, std::memory_order_release);
  do {
    sleep_until_ns(monotonic_now_ns() + 200'000);
  } while (busy.doing.load(std::memory_order_acquire) != doing && !thread.stopped());
  const std::int64_t release_ns = next_release_ns(monotonic_now_ns(), step);
  sleep_until_ns(release_ns);
  return monotonic_now_ns() - release_ns;
}

Status ask_syscall(PointsThread& thread, Busy& busy) {
  std::int64_t now_ns = monotonic_now_ns();
  for (std::int64_t step = 0; thread.more(now_ns); ++step) {
    const std::int64_t user_ns = woken_late_by(thread, busy, computing, step);
    const std::int64_t syscall_ns = woken_late_by(thread, busy, calling, step);
    if (thread.stopped()) break;
    thread.add(now_ns - thread.t0_ns(), user_ns, syscall_ns, 0);
    now_ns = monotonic_now_ns();
  }
  return {};
}

Result<ExitCode> run_syscall(Question& of) {
  Busy busy;
  busy.zeros = Fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  if (!busy.zeros.valid()) return not_possible("/dev/zero cannot be read: " + errno_text(errno));
  if (of.cell.params().integer("call") < 1) return usage_error("--call must be more than 0");
  if (of.cell.params().text("long-call") == "poll")
    if (const Status ready = prepare_poll(busy); !ready) return ready.error();
  busy.into.resize(static_cast<std::size_t>(of.cell.params().integer("call")));
  of.plan.columns = syscall_columns;
  of.add("scheduler/wake", of.policy, true, [&](PointsThread& thread) { return ask_syscall(thread, busy); });
  of.add("scheduler/busy", {}, false, [&](PointsThread& thread) { return be_busy(thread, busy); });
  of.plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    outcomes.figures = {{"call_ns", busy.call_ns.load()}};
    return outcomes;
  };
  return measure_points(of.cell, std::move(of.plan));
}

// ---- inversion ----

struct Inversion {
  std::array<pthread_mutex_t, 2> mutexes;  // without and with inheritance
  std::atomic<std::size_t> which{0};
  std::atomic<bool> over{false};
  sem_t owner_go, owner_has, owner_done, between_go, between_done;
  std::int64_t hold = 0, between = 0;  // iterations
};

void wait_for(sem_t& semaphore) {
  while (::sem_wait(&semaphore) != 0) {  // the kick: who sends the post always comes
  }
}

Status own(Inversion& all) {
  for (;;) {
    wait_for(all.owner_go);
    if (all.over.load(std::memory_order_acquire)) return {};
    pthread_mutex_t& mutex = all.mutexes[all.which.load(std::memory_order_acquire)];
    ::pthread_mutex_lock(&mutex);
    ::sem_post(&all.owner_has);
    do_work(all.hold);
    ::pthread_mutex_unlock(&mutex);
    ::sem_post(&all.owner_done);
  }
}

Status come_between(Inversion& all) {
  for (;;) {
    wait_for(all.between_go);
    if (all.over.load(std::memory_order_acquire)) return {};
    do_work(all.between);
    ::sem_post(&all.between_done);
  }
}

// All three are on one CPU and FIFO: who posts goes on until it waits, unless it wakes a higher one.
std::int64_t wait_for_mutex(Inversion& all, std::size_t which) {
  all.which.store(which, std::memory_order_release);
  ::sem_post(&all.owner_go);
  wait_for(all.owner_has);
  ::sem_post(&all.between_go);
  const std::int64_t begin_ns = monotonic_now_ns();
  ::pthread_mutex_lock(&all.mutexes[which]);
  const std::int64_t took_ns = monotonic_now_ns() - begin_ns;
  ::pthread_mutex_unlock(&all.mutexes[which]);
  wait_for(all.owner_done);
  wait_for(all.between_done);
  return took_ns;
}

Status ask_inversion(PointsThread& thread, Inversion& all, std::int64_t hold_ns, std::int64_t between_ns) {
  const double speed = measure_work_speed();
  all.hold = work_iterations(hold_ns, speed);
  all.between = work_iterations(between_ns, speed);
  std::int64_t now_ns = monotonic_now_ns();
  SpinWindow window(now_ns);
  while (thread.more(now_ns)) {
    window.pause_if_over(now_ns);
    const std::int64_t begin_ns = monotonic_now_ns();
    const std::int64_t inherit_ns = wait_for_mutex(all, 1);
    const std::int64_t plain_ns = wait_for_mutex(all, 0);
    now_ns = monotonic_now_ns();
    thread.add(begin_ns - thread.t0_ns(), inherit_ns, plain_ns, 0);
  }
  all.over.store(true, std::memory_order_release);
  ::sem_post(&all.owner_go);
  ::sem_post(&all.between_go);
  return {};
}

Status make_inversion(Inversion& all) {
  for (sem_t* one : {&all.owner_go, &all.owner_has, &all.owner_done, &all.between_go, &all.between_done})
    ::sem_init(one, 0, 0);
  for (std::size_t i = 0; i < 2; ++i)
    if (Status made = make_mutex(all.mutexes[i], {.inherit = i == 1}); !made) return made;
  return {};
}

Result<ExitCode> run_inversion(Question& of) {
  Params& in = of.cell.params();
  const std::int64_t hold_ns = in.integer("hold"), between_ns = in.integer("between");
  if (const Status right = check_inversion(hold_ns, between_ns, of.policy.priority); !right)
    return right.error();
  Inversion all;
  if (const Status made = make_inversion(all); !made) return made.error();
  of.plan.columns = inversion_columns;
  of.add("scheduler/waits", of.policy, true,
         [&](PointsThread& thread) { return ask_inversion(thread, all, hold_ns, between_ns); });
  of.add("scheduler/betw", of.below(1), false, [&](PointsThread&) { return come_between(all); });
  of.add("scheduler/owner", of.below(levels_below), false, [&](PointsThread&) { return own(all); });
  return measure_points(of.cell, std::move(of.plan));
}

// ---- throttling ----

// Spins until the CPU went to the ordinary task; false where it did not within `spin_ns`.
bool spin_until_taken(const PointsThread& thread, TakenGap& gap, std::int64_t spin_ns) {
  for (const std::int64_t begin_ns = gap.end_ns(); !thread.stopped() && gap.end_ns() - begin_ns < spin_ns;)
    if (gap.take(monotonic_now_ns())) return true;
  return false;
}

Status ask_throttling(PointsThread& thread, const std::atomic<std::int64_t>& others, std::int64_t rest_ns,
                      std::int64_t spin_ns) {
  while (thread.more(monotonic_now_ns())) {
    sleep_until_ns(monotonic_now_ns() + rest_ns);
    const std::int64_t begin_ns = monotonic_now_ns();
    TakenGap gap(begin_ns, others);
    const bool taken = spin_until_taken(thread, gap, spin_ns);
    if (thread.stopped()) break;
    if (taken) {
      thread.add(gap.begin_ns() - thread.t0_ns(), gap.begin_ns() - begin_ns, gap.end_ns() - gap.begin_ns(),
                 row_switched_out);
    } else {
      thread.missed();
    }
  }
  return {};
}

Result<ExitCode> run_throttling(Question& of) {
  constexpr std::int64_t spin_max_ns = 20'000'000'000, rest_max_ns = 5'000'000'000;
  Params& in = of.cell.params();
  const std::int64_t spin_ns = in.integer("spin"), rest_ns = in.integer("rest");
  if (spin_ns <= 0 || spin_ns > spin_max_ns) return usage_error("--spin must be more than 0 and at most 20s");
  if (rest_ns <= 0 || rest_ns > rest_max_ns) return usage_error("--rest must be more than 0 and at most 5s");
  if (const Status left = leave_a_cpu(in, {of.cpu}); !left) return left.error();
  if (read_affinity().size() == 1 && !in.flag("occupy-all"))
    return usage_error("spinning on the only CPU leaves none for anything else", "Give --occupy-all");
  std::atomic<std::int64_t> others{0};
  of.plan.columns = throttling_columns;
  of.plan.switched_by_design = true;
  of.add("scheduler/spins", of.policy, true,
         [&](PointsThread& thread) { return ask_throttling(thread, others, rest_ns, spin_ns); });
  of.add("scheduler/other", {}, false, [&](PointsThread& thread) -> Status {
    for (; !thread.stopped(); do_work(100)) others.fetch_add(1, std::memory_order_acq_rel);
    return {};
  });
  of.plan.conclude = [](std::vector<PointsTable>& tables) {
    PointsOutcomes outcomes;
    outcomes.figures = {{"taken", tables.front().rows}, {"not_taken", tables.front().missed}};
    return outcomes;
  };
  return measure_points(of.cell, std::move(of.plan));
}

// SCHED_DEADLINE is for one question alone, and is not pinned.
Result<ExitCode> run_deadline_tasks(Cell& cell, PointsPlan plan, const SchedPolicy& policy) {
  const auto cpus = choose_points_cpus(cell, plan);
  if (!cpus) return cpus.error();
  if (const Status may = may_have_policy(policy, cell.root()); !may) return may.error();
  plan.labels.emplace_back("policy", cell.params().text("policy"));
  return ask_about_tasks(cell, std::move(plan), cpus->front(), policy);
}

// The policy of a question if none was given: a FIFO task has no slice, and no nice value.
Status choose_policy(Params& in, const std::string& asked) {
  if (!in.given("policy") && asked == "slice") in.put("policy", "rr:80");
  if (!in.given("policy") && (asked == "shares" || asked == "sleeper")) in.put("policy", "other");
  if (asked == "shares" && in.text("policy") != "other")
    return usage_error("a nice value is for ordinary tasks alone", "Give --policy other");
  return {};
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const std::string asked = in.text("question");
  if (const Status right = choose_policy(in, asked); !right) return right.error();
  PointsPlan plan;
  plan.labels = {{"question", asked}};
  if (const auto policy = parse_policy(in.text("policy"));
      asked == "tasks" && policy && policy->kind == SchedKind::deadline)
    return run_deadline_tasks(cell, std::move(plan), *policy);
  const auto chosen = choose_points(cell, plan);
  if (!chosen) return chosen.error();
  if (chosen->cpus.size() != 1)
    return usage_error("the question is about one CPU, not " + std::to_string(chosen->cpus.size()),
                       "Choose one with --cpus");
  Question question{cell, plan, chosen->cpus.front(), chosen->policy};
  if (asked == "syscall") return run_syscall(question);
  if (asked == "tasks") return ask_about_tasks(cell, std::move(plan), question.cpu, question.policy);
  if (asked == "slice") return ask_about_slices(cell, std::move(plan), question.cpu, question.policy);
  if (asked == "shares") return ask_about_shares(cell, std::move(plan), question.cpu);
  if (asked == "sleeper") return ask_about_sleepers(cell, std::move(plan), question.cpu, question.policy);
  if (chosen->policy.kind != SchedKind::fifo)
    return not_possible("--question " + asked + " is about FIFO tasks",
                        "Give the right to them (CAP_SYS_NICE or ulimit -r), and --policy fifo:P");
  return asked == "inversion" ? run_inversion(question) : run_throttling(question);
}

double turn_ns(const Params& in) {
  const std::string& asked = in.text("question");
  if (asked == "tasks")  // each that stays runnable runs twice a point
    return 500'000 + (in.text("tasks-state") == "runnable" ? 8'000 * in.number("tasks") : 0);
  if (asked == "syscall")  // two waits of at most 1.2 ms each, and the end of a call, at 1 ns a byte
    return 3'000'000 + 2 * in.number("call");
  if (asked == "inversion")
    return 8 * (in.number("hold") + in.number("between"));  // two turns, half of each second
  if (asked == "throttling") return 8e8 + in.number("rest") + in.number("spin");  // and the gap
  if (asked == "shares") return in.number("window");
  if (asked == "sleeper") return 2 * in.number("sleep") + 4 * in.number("work");
  // slice: a fair task's is some ms, and half of the time nobody computes; a round-robin task's is 100 ms.
  return 8e6 * (1 + in.number("tasks")) + (in.text("policy") == "rr:80" ? 5.5e8 : 0);
}

}  // namespace

extern const Test test_scheduler;
const Test test_scheduler = {
    .name = "scheduler",
    .summary =
        "when the scheduler gives a task the CPU, and what it costs: system calls, inversion, throttling, "
        "many tasks, time slices, nice values, sleepers",
    .params = params,
    .columns = syscall_columns,
    .needs =
        "for inversion, throttling and slice of rr:P the right to real-time scheduling (CAP_SYS_NICE or "
        "ulimit -r); for shares with a negative nice value CAP_SYS_NICE or ulimit -e",
    .run = run,
    .example = "howlate-probe scheduler --question inversion --points 50",
    .turn_ns = turn_ns,
};

}  // namespace howlate
