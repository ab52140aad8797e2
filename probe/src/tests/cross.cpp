// cross: what one CPU asks of another, and how long the answer takes.
//
// A thread on the measuring CPU asks; on each CPU that is asked a thread waits for it. --kind says what is asked.
// wake: from before futex(FUTEX_WAKE) to the first time stamp of the thread that it wakes on another CPU, which was asleep. Included: the
// wake-up, the interrupt to the other CPU, its way out of what it did, the switch, the return to user space.
// membarrier: the call MEMBARRIER_CMD_PRIVATE_EXPEDITED while this process' threads run on all asked CPUs: an interrupt to each, and
// its answer. shootdown: the call mprotect() that takes the right to write from a page which those threads read all the time: each CPU
// must drop its translation, on most machines after an interrupt. lock: a write() of 8 bytes to an eventfd to which those threads write
// without a rest: all want one spin lock of the kernel (a sleeping lock under PREEMPT_RT). migrate: sched_setaffinity() of the thread
// itself to another CPU, until it runs there.
// Its own cost: two clock readings a point. It disturbs the measuring CPU, and each asked one, from a question to its answer; between two
// questions all its threads sleep. docs/tests/cross.md tells more.
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <new>

#include "core/schedule.hpp"
#include "core/text.hpp"
#include "points/points.hpp"
#include "sys/cpus.hpp"
#include "sys/elsewhere.hpp"
#include "sys/file.hpp"
#include "sys/random.hpp"
#include "tests/cross_panel.hpp"
#include "tests/test.hpp"
#include "timers/nanosleep.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"kind", ParamType::choice, "wake", "", "wake|membarrier|lock|shootdown|migrate", "what is asked"},
    {"asked", ParamType::cpus, "", "", "",
     "the CPUs that are asked; by default all others that this process may use"},
    {"pause", ParamType::duration, "200us", "ns", "",
     "mean pause between two questions, each drawn between half of it and one and a half, from 10us to 1s"},
    {"seed", ParamType::count, "", "1", "", "seed of the pauses; by default a random one, which is recorded"},
    {"work", ParamType::duration, "0ns", "ns", "",
     "with wake: arithmetic of the woken thread before its time stamp, included in the time"},
    points_param("10000"),
    points_duration,
    points_first,
    warm_up_param,
    {"cpus", ParamType::cpus, "", "", "", "the measuring CPU; by default the highest allowed"},
    points_policy,
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the question"},
    {"time_ns", ColumnType::i64, "the question, as an offset from t0"},
    {"answer_ns", ColumnType::i64, "from before the question to its answer", true},
    {"asked", ColumnType::i64, "the CPU that was asked; -1 where all of several were asked at once"},
    {"flags", ColumnType::u8, "bit 1: the asking thread lost its CPU against its will within it"},
};

constexpr std::int64_t pause_min_ns = 10'000, pause_max_ns = 1'000'000'000;
constexpr std::int64_t work_max_ns = 10'000'000;
constexpr int calls_alone = 100;

// What the asking thread has for its run.
struct Inquiry {
  Inquiry(int cpu, const std::vector<int>& others, const std::vector<int>& with_a_thread)
      : home(cpu), asked(others), panel(with_a_thread) {}
  int home;
  std::vector<int> asked;
  Panel panel;
  Schedule pauses;
  std::int64_t work_ns = 0;
  std::int64_t not_asleep = 0;  // wake: questions to a thread that had not fallen asleep; they leave no row
  std::int64_t alone_ns = -1;   // the shortest call while nobody else had to answer it; -1: not measured
};

std::int64_t involuntary_switches() {
  return read_thread_usage().involuntary_switches;
}

// Everybody asleep, and the next pause over; false if the run ended meanwhile.
bool rest(const PointsThread& thread, Inquiry& inquiry) {
  if (!inquiry.panel.dismiss(thread)) return false;
  const std::int64_t before_ns = inquiry.pauses.release_ns();
  const std::int64_t until_ns = monotonic_now_ns() + inquiry.pauses.advance() - before_ns;
  while (!thread.stopped() && sleep_until(until_ns) == -EINTR) {
  }
  return !thread.stopped();
}

// A thread on another CPU, one after the other where several are asked.
Status wake_others(PointsThread& thread, Inquiry& inquiry) {
  if (inquiry.work_ns != 0) {
    const std::int64_t work = work_iterations(inquiry.work_ns, measure_work_speed());
    for (const auto& seat : inquiry.panel.seats()) seat->work = work;
  }
  for (std::size_t turn = 0; thread.more(monotonic_now_ns()) && rest(thread, inquiry); ++turn) {
    Seat& seat = inquiry.panel.seat(turn % inquiry.panel.size());
    const std::int64_t switches = involuntary_switches();
    const std::int64_t begin_ns = monotonic_now_ns();
    const auto answer = Panel::wake(thread, seat);
    if (!answer) break;
    if (!answer->was_asleep) {
      ++inquiry.not_asleep;
      continue;
    }
    thread.add(begin_ns - thread.t0_ns(), answer->woke_ns - begin_ns, seat.cpu,
               involuntary_switches() != switches ? row_switched_out : 0);
  }
  return {};
}

class CpuMask {
 public:
  explicit CpuMask(int cpu) {
    CPU_ZERO(&set_);
    CPU_SET(static_cast<std::size_t>(cpu), &set_);
  }
  [[nodiscard]] bool go_there() const { return ::sched_setaffinity(0, sizeof set_, &set_) == 0; }

 private:
  cpu_set_t set_{};
};

Status move_there(PointsThread& thread, Inquiry& inquiry) {
  const std::vector<int> before = read_affinity();
  const CpuMask home(inquiry.home);
  std::vector<CpuMask> places;
  for (const int cpu : inquiry.asked) places.emplace_back(cpu);
  bool moved = home.go_there();
  for (std::size_t turn = 0; moved && thread.more(monotonic_now_ns()) && rest(thread, inquiry); ++turn) {
    const std::size_t number = turn % places.size();
    const std::int64_t begin_ns = monotonic_now_ns();
    moved = places[number].go_there();
    const std::int64_t end_ns = monotonic_now_ns();
    moved = moved && ::sched_getcpu() == inquiry.asked[number] && home.go_there();
    if (moved) thread.add(begin_ns - thread.t0_ns(), end_ns - begin_ns, inquiry.asked[number], 0);
  }
  if (!moved) return broken("the thread could not move to a CPU while it measured: " + errno_text(errno));
  // Who loses a CPU has other ones afterwards (ThreadCounters::place).
  static_cast<void>(set_affinity(before));
  return {};
}

// A call that all asked CPUs must answer is a type with
//   Status make()      what it needs, before there are threads
//   bool ask()         the call; false with errno if it failed
//   void recover()     on the asking thread, after each answer
//   void attend()      what the asked threads do meanwhile, again and again
struct Membarrier {
  static Status available() {
    const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) return {};
    return not_possible("this kernel has no expedited membarrier()" +
                            (commands < 0 ? ": " + errno_text(errno) : std::string()),
                        "Choose another --kind, or a kernel from 4.14 with CONFIG_MEMBARRIER");
  }
  static Status make() {
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) return {};
    return broken("membarrier() does not register this process: " + errno_text(errno));
  }
  static bool ask() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }
  static void recover() {}
  static void attend() {}
};

// Shared memory: a private page would take a fault when it may be written again.
class Shootdown {
 public:
  Shootdown() = default;
  Shootdown(const Shootdown&) = delete;
  Shootdown& operator=(const Shootdown&) = delete;
  ~Shootdown() {
    if (page_ != MAP_FAILED) ::munmap(page_, bytes_);
  }

  Status make() {
    page_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (page_ == MAP_FAILED) return broken("no page to be shared: " + errno_text(errno));
    word_ = new (page_) std::atomic<std::uint64_t>(1);
    return {};
  }
  [[nodiscard]] bool ask() const { return ::mprotect(page_, bytes_, PROT_READ) == 0; }
  void recover() const { ::mprotect(page_, bytes_, PROT_READ | PROT_WRITE); }
  void attend() const { static_cast<void>(word_->load(std::memory_order_relaxed)); }

 private:
  std::size_t bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page_ = MAP_FAILED;
  std::atomic<std::uint64_t>* word_ = nullptr;
};

class KernelLock {
 public:
  Status make() {
    event_ = Fd(::eventfd(0, EFD_CLOEXEC));
    if (event_.get() < 0) return broken("no eventfd: " + errno_text(errno));
    return {};
  }
  [[nodiscard]] bool ask() const {
    const std::uint64_t more = 1;
    return ::write(event_.get(), &more, sizeof more) == sizeof more;
  }
  static void recover() {}
  void attend() const { static_cast<void>(ask()); }

 private:
  Fd event_;
};

// The call while the asked threads sleep: what it costs with nobody to answer.
template <class Call>
bool ask_alone(Call& call, Inquiry& inquiry) {
  std::int64_t least_ns = INT64_MAX;
  for (int i = 0; i < calls_alone; ++i) {
    const std::int64_t begin_ns = monotonic_now_ns();
    if (!call.ask()) return false;
    least_ns = std::min(least_ns, monotonic_now_ns() - begin_ns);
    call.recover();
  }
  inquiry.alone_ns = least_ns;
  return true;
}

template <class Call>
Status ask_all(PointsThread& thread, Inquiry& inquiry, Call& call) {
  Panel& panel = inquiry.panel;
  const int asked = panel.size() == 1 ? panel.seat(0).cpu : -1;
  if (!rest(thread, inquiry)) return {};
  bool answered = ask_alone(call, inquiry);
  while (answered && thread.more(monotonic_now_ns()) && rest(thread, inquiry) && panel.gather(thread)) {
    const std::int64_t switches = involuntary_switches();
    const std::int64_t begin_ns = monotonic_now_ns();
    answered = call.ask();
    const std::int64_t end_ns = monotonic_now_ns();
    if (!answered) break;
    thread.add(begin_ns - thread.t0_ns(), end_ns - begin_ns, asked,
               involuntary_switches() != switches ? row_switched_out : 0);
    call.recover();
  }
  if (!answered) return broken("a call failed while it was measured: " + errno_text(errno));
  panel.dismiss(thread);
  return {};
}

// The CPUs of --asked; all others that this process may use where none are named. An isolated CPU is asked only where it is named.
Result<std::vector<int>> choose_asked(const Cell& cell, Params& in, int asking) {
  std::vector<int> nameable = nameable_cpus(cell.root());
  std::erase(nameable, asking);
  if (nameable.empty())
    return not_possible(
        "this process may use one CPU only, so there is no other to ask",
        "Measure where it may use several; `howlate lab run --guest-cpus 2` makes such a machine");
  std::vector<int> asked = read_affinity();
  std::erase(asked, asking);
  if (in.is_set("asked") && in.text("asked") != "all") {
    const auto wanted = parse_cpu_list(in.text("asked"));
    if (!wanted) return wanted.error();
    for (const int cpu : *wanted)
      if (std::find(nameable.begin(), nameable.end(), cpu) == nameable.end())
        return usage_error(
            "CPU " + std::to_string(cpu) + " cannot be asked from CPU " + std::to_string(asking),
            "Choose --asked from " + cpu_list_text(nameable));
    asked = *wanted;
  }
  if (asked.empty())
    return not_possible("every other CPU is isolated", "Choose --asked from " + cpu_list_text(nameable));
  in.put("asked", cpu_list_text(asked));
  return asked;
}

Status read_numbers(Params& in, Inquiry& inquiry) {
  const std::int64_t pause_ns = in.integer("pause");
  if (pause_ns < pause_min_ns || pause_ns > pause_max_ns)
    return usage_error("--pause " + in.text("pause") + " is not possible", "Choose from 10us to 1s");
  inquiry.work_ns = in.integer("work");
  if (inquiry.work_ns < 0 || inquiry.work_ns > work_max_ns)
    return usage_error("--work " + in.text("work") + " is not possible", "Choose from 0ns to 10ms");
  if (inquiry.work_ns != 0 && in.text("kind") != "wake")
    return usage_error("--work is the woken thread's, and --kind " + in.text("kind") + " wakes none",
                       "Give --kind wake, or leave --work out");
  const std::int64_t seed = in.is_set("seed") ? in.integer("seed") : random_seed();
  in.put("seed", std::to_string(seed));
  inquiry.pauses = Schedule(
      {.period_ns = pause_ns, .dither = true, .seed = static_cast<std::uint64_t>(seed), .window_on_ns = 0});
  return {};
}

// How a kind is measured: the bodies of the asking thread and of each asked one, and what both need.
struct Bodies {
  std::function<Status()> make;
  std::function<Status(PointsThread&)> ask;
  std::function<void(const PointsThread&, Seat&)> answer;  // empty: nobody has to be there
};

template <class Call>
Bodies bodies_of(Inquiry& inquiry) {
  const auto call = std::make_shared<Call>();
  return {[call] { return call->make(); },
          [call, &inquiry](PointsThread& thread) { return ask_all(thread, inquiry, *call); },
          [call](const PointsThread& thread, Seat& seat) { sit(thread, seat, [&] { call->attend(); }); }};
}

Bodies bodies_of(std::string_view kind, Inquiry& inquiry) {
  if (kind == "membarrier") return bodies_of<Membarrier>(inquiry);
  if (kind == "shootdown") return bodies_of<Shootdown>(inquiry);
  if (kind == "lock") return bodies_of<KernelLock>(inquiry);
  if (kind == "migrate") return {{}, [&](PointsThread& thread) { return move_there(thread, inquiry); }, {}};
  return {{},
          [&](PointsThread& thread) { return wake_others(thread, inquiry); },
          [](const PointsThread& thread, Seat& seat) { sit(thread, seat, [] {}); }};
}

void add_threads(PointsPlan& plan, Inquiry& inquiry, const Bodies& bodies, const SchedPolicy& policy) {
  std::vector<int> cpus = {inquiry.home};
  if (!bodies.answer) cpus.insert(cpus.end(), inquiry.asked.begin(), inquiry.asked.end());
  std::sort(cpus.begin(), cpus.end());
  plan.threads.push_back(
      {"cross/asks", cpus, policy, true, [&inquiry, ask = bodies.ask](PointsThread& thread) -> Status {
         return inquiry.panel.assemble(thread) ? ask(thread) : Status();
       }});
  if (!bodies.answer) return;
  for (const auto& seat : inquiry.panel.seats())
    plan.threads.push_back({"cross/" + std::to_string(seat->cpu),
                            {seat->cpu},
                            policy,
                            false,
                            [answer = bodies.answer, &seat = *seat](PointsThread& thread) -> Status {
                              answer(thread, seat);
                              return {};
                            }});
}

PointsOutcomes conclude(const Inquiry& inquiry) {
  PointsOutcomes outcomes;
  if (inquiry.alone_ns >= 0) outcomes.figures.emplace_back("alone_ns", inquiry.alone_ns);
  if (inquiry.not_asleep != 0) outcomes.figures.emplace_back("not_asleep", inquiry.not_asleep);
  return outcomes;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  const std::string kind = in.text("kind");
  if (kind == "membarrier")
    if (const Status here = if_here(Membarrier::available()); !here) return here.error();
  PointsPlan plan;
  plan.labels = {{"kind", kind}};
  const auto chosen = choose_points(cell, plan);
  if (!chosen) return chosen.error();
  if (chosen->cpus.size() != 1)
    return usage_error("one CPU asks, not " + in.text("cpus"),
                       "Give --cpus one CPU, and the others to --asked");
  const auto asked = choose_asked(cell, in, chosen->cpus.front());
  if (!asked) return asked.error();
  plan.labels.emplace_back("asked", in.text("asked"));
  Inquiry inquiry(chosen->cpus.front(), *asked, kind == "migrate" ? std::vector<int>() : *asked);
  if (const Status numbers = read_numbers(in, inquiry); !numbers) return numbers.error();
  const Bodies bodies = bodies_of(kind, inquiry);
  add_threads(plan, inquiry, bodies, chosen->policy);
  plan.switched_by_design = true;
  plan.loads_beside = chosen->cpus;
  plan.set_up = bodies.make;
  plan.conclude = [&](std::vector<PointsTable>&) { return conclude(inquiry); };
  return measure_points(cell, std::move(plan));
}

// A pause, the rendezvous and the answer.
double turn_ns(const Params& in) {
  return in.number("pause") + in.number("work") + 100'000;
}

}  // namespace

extern const Test test_cross;
const Test test_cross = {
    .name = "cross",
    .summary = "what one CPU asks of another: a wake-up, a barrier, a lock, a TLB shoot-down, a migration",
    .params = params,
    .columns = columns,
    .needs = needs_fifo_or_rr,
    .run = run,
    .example = "howlate-probe cross --kind membarrier --points 10000",
    .turn_ns = turn_ns,
};

}  // namespace howlate
