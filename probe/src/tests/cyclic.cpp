// cyclic: the wake-up latency of a periodic task.
//
// From: the instant of the release (t0 + n * period, or with dither), as the schedule has it. To: the first
// time stamp that the measuring thread takes in user space after its way to sleep has returned
// (CLOCK_MONOTONIC). Included: the timer, its interrupt, the wake-up, the switch to the thread, the return to
// user space, and the clock read itself. With --work also the response: from the release to the end of the
// activation's work. Its own cost: one clock read, one wait and a sample of six words an activation. It disturbs the
// machine by its thread's CPU time, and by a recorder on another CPU (docs/recorder.md). docs/tests/cyclic.md
// tells what the numbers mean.
#include <algorithm>
#include <charconv>

#include "cell/cell.hpp"
#include "cell/choose.hpp"
#include "core/text.hpp"
#include "inject/injection.hpp"
#include "job/single.hpp"
#include "sys/elsewhere.hpp"
#include "sys/random.hpp"
#include "tests/test.hpp"
#include "timers/timer.hpp"

namespace howlate {

namespace {

constexpr std::int64_t period_ns_min = 20'000;
constexpr std::int64_t period_ns_max = 3'600'000'000'000;
constexpr std::int64_t stagger_ns_max = 3'600'000'000'000;
constexpr std::int64_t activations_max = 1'000'000'000'000;

const std::string inject_names = choices_of(injections());
const std::string inject_help =
    "for laboratories: make delays of known size, and record them. " + summaries_of(injections());

const ParamSpec params[] = {
    {"timer", ParamType::text, "clock_nanosleep", "", "", "the way to sleep (howlate-probe list names them)"},
    {"period", ParamType::duration, "1ms", "ns", "", "distance between two releases, from 20us"},
    {"activations", ParamType::count, "", "1", "", "end after this many activations", false, true},
    {"duration", ParamType::duration, "", "ns", "", "end after this time (10s if neither is given)", false,
     true},
    {"first", ParamType::duration, "1000us", "ns", "",
     "distance of the first release, which begins the warm-up, from the start (activations in the kernel: "
     "100ms)"},
    {"late-policy", ParamType::choice, "skip", "", "skip|backlog|as-published",
     "what happens to releases that pass during a late activation"},
    {"dither", ParamType::flag, "", "", "", "draw each gap from 0.5 to 1.5 periods"},
    {"seed", ParamType::count, "", "1", "", "seed of the dither; by default a random one, which is recorded"},
    warm_up_param,
    {"cpus", ParamType::cpus, "", "", "",
     "one measuring thread on each CPU; by default the highest CPU allowed"},
    {"policy", ParamType::text, "fifo:80", "", "", "other, fifo:P, rr:P or deadline:RUNTIME:DEADLINE:PERIOD"},
    {"priorities", ParamType::text, "", "", "",
     "priorities of the threads, in the order of their CPUs: 80,79"},
    {"stagger", ParamType::duration, "0ns", "ns", "", "shift the releases of thread k by k times this"},
    {"work", ParamType::duration, "0ns", "ns", "",
     "work of each activation (calibrated on the thread's CPU)"},
    {"deadline", ParamType::duration, "", "ns", "", "count latencies (with work: responses) above it"},
    {"threshold", ParamType::duration, "", "ns", "", "end at the first latency above it, with exit code 1"},
    {"break-trace", ParamType::flag, "", "", "", "at the threshold, mark the kernel's trace and stop it"},
    {"timer-slack", ParamType::duration, "", "ns", "",
     "timer slack of the measuring threads; unchanged by default"},
    {"explain", ParamType::flag, "", "", "",
     "record what delays the measuring threads, by the kernel's trace, and keep it around the worst "
     "(docs/explain.md)"},
    {"explain-worst", ParamType::count, "20", "1", "",
     "keep so many of the worst of each thread, up to 1000"},
    {"explain-above", ParamType::duration, "", "ns", "", "keep also what is above it"},
    {"explain-buffer", ParamType::bytes, "4MiB", "B", "", "trace buffer of each CPU, from 64KiB to 1GiB"},
    {"explain-with", ParamType::choice, "auto", "", "auto|bpf|bpf-by-address|tracefs",
     "who records: BPF programs, or the kernel's trace ring; auto: BPF where the kernel takes it; "
     "bpf-by-address: BPF, also on kernels without CONFIG_KALLSYMS_ALL"},
    {"explain-events", ParamType::choice, "auto", "", "auto|few|all",
     "all: also the ends of the timer's interrupt and idle states, for up to twice the cost; auto: all with "
     "BPF on x86-64 outside of guests, few otherwise"},
    {"explain-stacks", ParamType::flag, "", "", "",
     "also record at each interrupt of the timer which function it interrupted"},
    {"occupy-all", ParamType::flag, "", "", "", "let a spinning timer take every CPU"},
    {"single", ParamType::flag, "", "", "",
     "in a guest of the lab: one release, at the instant that the host writes into the stopped machine"},
    {"inject", ParamType::choice, "", "", inject_names, inject_help},
    {"inject-size", ParamType::text, "20us-500us", "", "", "how long: a range, or one length for all"},
    {"inject-every", ParamType::count, "4", "1", "", "one delay in so many releases"},
    {"inject-seed", ParamType::count, "", "1", "",
     "seed of their sizes and instants; by default a random one, which is recorded"},
    {"inject-round", ParamType::duration, "0ns", "ns", "",
     "in a virtual machine: a round of its CPUs' turns, by which they keep apart"},
};

std::vector<Need> modules_of_plugins() {
  std::vector<Need> modules;
  for (const Injection* const one : injections())
    if (!one->module.empty()) modules.push_back({one->module, "inject", one->name, one->module_parameters});
  for (const Timer* const timer : timers())  // whose activations run in the kernel
    if (!timer->module.empty()) modules.push_back({timer->module, "timer", timer->name});
  return modules;
}

constexpr ColumnSpec columns[] = {
    {"release", ColumnType::i64, "index of the release served"},
    {"release_ns", ColumnType::i64, "the release, as an offset from t0"},
    {"latency_ns", ColumnType::i64, "first user-space time stamp minus release", true},
    {"response_ns", ColumnType::i64, "end of the activation's work minus release; 0 without work", true},
    {"flags", ColumnType::u8, "bit 1: switched out before this time stamp (spinning)"},
};

// The properties of each thread, from which the lanes are made.
struct Threads {
  std::vector<int> cpus;  // {-1}: one thread, not pinned
  std::vector<SchedPolicy> policies;
  std::vector<int> cpuset;  // of the knob of that name
};

std::int64_t or_zero(const Params& params_in, std::string_view name) {
  return params_in.is_set(name) ? params_in.integer(name) : 0;
}

constexpr std::int64_t explain_worst_max = 1000;
constexpr std::int64_t explain_buffer_min = std::int64_t{64} << 10U,
                       explain_buffer_max = std::int64_t{1} << 30U;

ExplainWith explain_with(std::string_view text) {
  if (text == "bpf") return ExplainWith::bpf;
  if (text == "bpf-by-address") return ExplainWith::bpf_by_address;
  return text == "tracefs" ? ExplainWith::tracefs : ExplainWith::automatic;
}

ExplainEvents explain_events(std::string_view text) {
  if (text == "all") return ExplainEvents::all;
  return text == "few" ? ExplainEvents::few : ExplainEvents::automatic;
}

Status check_explain(const Params& in) {
  for (const std::string_view name : {"explain-worst", "explain-above", "explain-buffer", "explain-with",
                                      "explain-events", "explain-stacks"})
    if (in.given(name) && !in.flag("explain"))
      return usage_error("--" + std::string(name) + " says what --explain keeps, and that is not given",
                         "Give --explain too, or leave --" + std::string(name) + " out");
  if (in.flag("explain-stacks") && in.text("explain-with").starts_with("bpf"))
    return usage_error("--explain-stacks is for the kernel's trace ring alone",
                       "Leave it out, or give --explain-with tracefs");
  if (in.integer("explain-worst") > explain_worst_max)
    return usage_error("--explain-worst can be at most 1000");
  if (in.is_set("explain-above") && in.integer("explain-above") <= 0)
    return usage_error("--explain-above must be more than 0", "Leave it out for no such limit");
  if (in.integer("explain-buffer") < explain_buffer_min || in.integer("explain-buffer") > explain_buffer_max)
    return usage_error("--explain-buffer must be from 64KiB to 1GiB");
  return {};
}

Status check_times(const Params& in) {
  if (const Status period = check_period(in, period_ns_min, period_ns_max); !period) return period;
  for (const std::string_view name : {"activations", "duration", "threshold", "deadline"})
    if (in.is_set(name) && in.integer(name) <= 0)
      return usage_error("--" + std::string(name) + " must be more than 0", "Leave it out for no such limit");
  if (in.is_set("activations") && in.integer("activations") > activations_max)
    return usage_error("--activations can be at most 1000000000000");
  if (in.integer("stagger") > stagger_ns_max) return usage_error("--stagger can be at most 1h");
  if (in.flag("break-trace") && !in.is_set("threshold"))
    return usage_error("--break-trace needs to know at what latency",
                       "Give --threshold too, such as --threshold 100us");
  if (const Status explain = check_explain(in); !explain) return explain;
  if (in.flag("single") &&
      (in.text("timer") != "clock_nanosleep" || !in.is_set("activations") || in.integer("activations") != 1))
    return usage_error("--single is one activation that sleeps by clock_nanosleep",
                       "Give --activations 1 too, and no other timer");
  if (in.flag("single") && in.integer("first") <= single_lead_ns)
    return usage_error("--single stops the machine 5 ms before the first release", "Give a larger --first");
  if (in.is_set("seed") && !in.flag("dither"))
    return usage_error("--seed is the dither's, and there is none", "Give --dither too, or leave --seed out");
  return {};
}

// The CPUs of --knob cpuset=LIST; none without it.
Result<std::vector<int>> knob_cpuset_of(const Params& in) {
  constexpr std::string_view begin = "cpuset=";
  for (const std::string& knob : in.texts("knob"))
    if (knob.starts_with(begin)) return parse_cpu_list(std::string_view(knob).substr(begin.size()));
  return std::vector<int>{};
}

// The kernel admits a SCHED_DEADLINE task only to all CPUs of a root domain: those of the machine, or of an
// exclusive cpuset.
Result<std::vector<int>> choose_deadline_cpus(const Params& in, const std::vector<int>& cpus,
                                              const std::vector<int>& cpuset) {
  if (cpuset.empty()) {
    if (!in.given("cpus")) return std::vector<int>{-1};
    return not_possible("the kernel does not pin a deadline task to a CPU without an exclusive cpuset",
                        "Give it one with --knob cpuset=" + in.text("cpus") +
                            ", or leave --cpus out: it then runs unpinned, with its migrations counted");
  }
  if (in.given("cpus") && cpus != cpuset)
    return not_possible("a deadline task runs on all of its exclusive cpuset, which is " +
                            cpu_list_text(cpuset) + " and not " + cpu_list_text(cpus),
                        "Leave --cpus out, or give it and --knob cpuset= the same CPUs");
  return std::vector<int>{cpuset.size() == 1 ? cpuset.front() : -1};
}

// The policy asked for; if neither it nor priorities were asked for and the right to the default one lacks, OTHER with a warning.
Result<SchedPolicy> choose_policy(Cell& cell, const std::vector<int>& cpuset) {
  Params& in = cell.params();
  const auto wanted = parse_policy(in.text("policy"));
  if (!wanted) return wanted.error();
  if (wanted->kind == SchedKind::batch || wanted->kind == SchedKind::idle)
    return usage_error("--policy " + in.text("policy") + " is not one that is measured",
                       "Choose other, fifo:P, rr:P or deadline:...");
  if (wanted->kind == SchedKind::deadline && !cpuset.empty())
    return *wanted;  // the set that it is admitted to is not there yet
  return policy_that_may(cell, *wanted, !in.given("policy") && !in.given("priorities"));
}

Result<std::vector<SchedPolicy>> choose_priorities(const Params& in, const SchedPolicy& policy,
                                                   std::size_t threads) {
  std::vector<SchedPolicy> policies(threads, policy);
  if (!in.is_set("priorities")) return policies;
  const Error wrong =
      usage_error("--priorities takes one priority from 1 to 99 for each of the " + std::to_string(threads) +
                      " threads, not " + in_quotes(in.text("priorities")),
                  "Write them with commas, such as --priorities 80,79");
  if (policy.kind != SchedKind::fifo && policy.kind != SchedKind::rr)
    return usage_error("--priorities needs --policy fifo:P or rr:P, not " + policy_text(policy));
  const auto words = split(in.text("priorities"), ',');
  if (words.size() != threads) return wrong;
  for (std::size_t i = 0; i < threads; ++i) {
    const char* const end = words[i].data() + words[i].size();
    const auto [stopped, error] = std::from_chars(words[i].data(), end, policies[i].priority);
    if (error != std::errc{} || stopped != end || policies[i].priority < 1 || policies[i].priority > 99)
      return wrong;
  }
  return policies;
}

// "1", "0-3", "unpinned", "unpinned in 2-3".
std::string place_text(const std::vector<int>& cpus, const std::vector<int>& cpuset) {
  if (cpus.front() >= 0) return cpu_list_text(cpus);
  return cpuset.empty() ? "unpinned" : "unpinned in " + cpu_list_text(cpuset);
}

Result<Threads> choose_threads(Cell& cell) {
  Params& in = cell.params();
  auto cpus = choose_cpus(cell, in);
  if (!cpus) return cpus.error();
  auto cpuset = knob_cpuset_of(in);
  if (!cpuset) return cpuset.error();
  const auto policy = choose_policy(cell, *cpuset);
  if (!policy) return policy.error();
  const bool deadline = policy->kind == SchedKind::deadline;
  if (deadline) cpus = choose_deadline_cpus(in, *cpus, *cpuset);
  if (!cpus) return cpus.error();
  auto policies = choose_priorities(in, *policy, cpus->size());
  if (!policies) return policies.error();
  for (const SchedPolicy& one : *policies)
    if (const Status may = deadline ? Status() : may_have_policy(one, cell.root()); !may) return may.error();
  in.put("cpus", place_text(*cpus, *cpuset));
  return Threads{std::move(*cpus), std::move(*policies), std::move(*cpuset)};
}

Result<const Timer*> choose_timer(const Params& in, const Threads& threads, LatePolicy late_policy) {
  const auto timer = find_built_timer(in.text("timer"));
  if (!timer) return timer.error();
  const Timer& chosen = **timer;
  if (chosen.in_kernel && in.integer("work") != 0)
    return usage_error(in_quotes(chosen.name) + " is activated in the kernel and does no work",
                       "Leave --work out, or choose a timer of user space");
  const TimerUse use{late_policy, in.flag("dither"), static_cast<int>(threads.cpus.size()),
                     in.integer("period"), threads.policies};
  if (const Status fits = check_timer_use(chosen, use); !fits) return fits.error();
  if (const Status there = if_here(chosen.available()); !there) return there.error();
  const std::size_t allowed = read_affinity().size();
  if (chosen.windows && allowed == 1 && threads.cpus.size() == 1 && !in.flag("occupy-all"))
    return not_possible("a spinning timer takes a whole CPU, and there is only one here");
  if (chosen.windows && threads.cpus.size() == allowed && !in.flag("occupy-all"))
    return usage_error("a spinning timer on every CPU leaves none for anything else",
                       "Leave one CPU out of --cpus, or give --occupy-all");
  return timer;
}

Status fill_inject(Params& in, CellPlan& plan) {
  if (!in.is_set("inject")) {
    for (const std::string_view name : {"inject-size", "inject-every", "inject-seed", "inject-round"})
      if (in.given(name))
        return usage_error("--" + std::string(name) + " is about --inject, which is not given",
                           "Give --inject KIND too");
    return {};
  }
  const auto kind = find_injection(in.text("inject"));
  if (!kind) return kind.error();
  const auto sizes = parse_inject_sizes(in.text("inject-size"));
  if (!sizes) return sizes.error();
  if (in.integer("inject-every") < 1) return usage_error("--inject-every must be 1 or more");
  if (in.integer("inject-round") > inject_round_ns_max)
    return usage_error("--inject-round must be 10ms or less");
  if (in.flag("single")) return usage_error("--single measures one release, and --inject needs several");
  const std::int64_t seed = in.is_set("inject-seed") ? in.integer("inject-seed") : random_seed();
  in.put("inject-seed", std::to_string(seed));
  plan.inject = InjectWish{*kind,
                           {.sizes = *sizes,
                            .every = in.integer("inject-every"),
                            .seed = static_cast<std::uint64_t>(seed),
                            .round_ns = in.integer("inject-round")}};
  return {};
}

void fill_schedule(Params& in, const Timer& timer, CellPlan& plan) {
  plan.schedule.period_ns = in.integer("period");
  plan.schedule.dither = in.flag("dither");
  if (plan.schedule.dither) {
    const std::int64_t seed = in.is_set("seed") ? in.integer("seed") : random_seed();
    plan.schedule.seed = static_cast<std::uint64_t>(seed);
    in.put("seed", std::to_string(seed));
  }
  if (timer.windows) plan.schedule.window_on_ns = plan.schedule.window_off_ns = spin_window_ns;
  if (timer.in_kernel && !in.given("first"))
    in.put("first", "100ms");  // a million releases are handed over by then
  plan.first_ns = in.integer("first");
  plan.warm_up_ns = in.flag("single") ? 0 : in.integer("warm-up");
  plan.duration_ns = or_zero(in, "duration");
  if (!in.is_set("activations") && !in.is_set("duration")) {
    plan.duration_ns = 10'000'000'000;
    in.put("duration", "10s");
  }
}

std::unique_ptr<MeasuringThread> make_lane(const Params& in, const Timer& timer, LatePolicy late_policy,
                                           const Threads& threads, std::size_t index) {
  auto lane = std::make_unique<MeasuringThread>();
  lane->cpu = threads.cpus[index];
  lane->policy = threads.policies[index];
  if (const auto& set = threads.cpuset;
      lane->cpu < 0 || std::find(set.begin(), set.end(), lane->cpu) != set.end())
    lane->cpuset = set;
  lane->stagger_ns = static_cast<std::int64_t>(index) * in.integer("stagger");
  lane->timer_slack_ns = or_zero(in, "timer-slack");
  lane->work_ns = in.integer("work");
  lane->run = in.flag("single") ? run_single : timer.run;
  lane->attach = timer.attach;
  lane->loop.late_policy = late_policy;
  if (in.is_set("activations")) lane->loop.activations_wanted = in.integer("activations");
  return lane;
}

void fill_labels(const Params& in, CellPlan& plan) {
  std::vector<std::string> loads = in.texts("load");
  if (loads.empty()) loads = {"none"};
  plan.labels = {{"timer", in.text("timer")},
                 {"period", in.text("period")},
                 {"policy", in.text("policy")},
                 {"cpu", in.text("cpus")},
                 {"load", join(loads, "+")}};
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  if (const Status times = check_times(in); !times) return times.error();
  const auto late_policy = parse_late_policy(in.text("late-policy"));
  if (!late_policy) return late_policy.error();
  const auto threads = choose_threads(cell);
  if (!threads) return threads.error();
  const auto timer = choose_timer(in, *threads, *late_policy);
  if (!timer) return timer.error();

  CellPlan plan;
  fill_schedule(in, **timer, plan);
  if (const Status inject = fill_inject(in, plan); !inject) return inject.error();
  for (std::size_t i = 0; i < threads->cpus.size(); ++i)
    plan.lanes.push_back(make_lane(in, **timer, *late_policy, *threads, i));
  plan.threshold_ns = or_zero(in, "threshold");
  plan.break_trace = in.flag("break-trace");
  plan.deadline_ns = or_zero(in, "deadline");
  plan.has_work = in.integer("work") != 0;
  plan.record = in.text("record") == "memory" ? RecordMode::memory : RecordMode::stream;
  plan.explain = {in.flag("explain"),
                  explain_with(in.text("explain-with")),
                  explain_events(in.text("explain-events")),
                  in.flag("explain-stacks"),
                  in.integer("explain-worst"),
                  or_zero(in, "explain-above"),
                  in.integer("explain-buffer")};
  fill_labels(in, plan);
  return cell.measure(std::move(plan));
}

// A spinning timer works for half of each second.
double turn_ns(const Params& in) {
  const auto timer = find_timer(in.text("timer"));
  return in.number("period") * (timer && (*timer)->windows ? 2 : 1);
}

}  // namespace

extern const Test test_cyclic;
constinit const Test test_cyclic = {
    .name = "cyclic",
    .summary = "wake-up latency of a periodic task",
    .params = params,
    .columns = columns,
    .needs =
        "for fifo, rr and deadline the right to real-time scheduling (CAP_SYS_NICE or ulimit -r); without "
        "it the test measures as other",
    .run = run,
    .example = "howlate-probe cyclic --period 250us --activations 100000 --dither --load cpu:50",
    .turn_ns = turn_ns,
    .modules_of_plugins = modules_of_plugins,
};

}  // namespace howlate
