// uio: from a driver's interrupt handler in the kernel to its handler in user space.
//
// From: the first time stamp of the kernel's handler. To: the first time stamp of the task after it came back from read() or
// poll() on the UIO device (user_latency_ns). Included: what the handler still does (32 bytes stored, the acknowledgement of a real
// device before that), UIO's notification (from 6.10 on in a thread of the interrupt), the wake-up, the switch, the return to user
// space. Beside it: from the instant for which the timer that raises the interrupt was programmed to the handler's first time stamp
// (handler_latency_ns), which holds the time in which interrupts were off; and the part of it from the raising of the interrupt on
// (raise_to_handler_ns), which on PREEMPT_RT holds the wake-up of the interrupt's thread. Its own cost: two clock reads in the kernel
// and one in the task, one system call an interrupt (two with poll), and the timer that raises it. Source: a UIO driver for a UART on
// an SH-4 board (rts7751-2007, part two).
// docs/tests/uio.md tells what the numbers mean.
#include <cerrno>

#include "irq/uio_device.hpp"
#include "points/points.hpp"
#include "sys/clock.hpp"
#include "tests/test.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    points_param("10000"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    {"source", ParamType::choice, "hrtimer", "", "hrtimer|edu",
     "a line that a timer of the kernel raises, or QEMU's PCI device edu"},
    {"wait", ParamType::choice, "read", "", "read|poll", "how the task waits for the interrupt"},
    {"period", ParamType::duration, "1ms", "ns", "", "distance between two interrupts"},
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the interrupt"},
    {"time_ns", ColumnType::i64, "the instant at which its timer was due, as an offset from t0"},
    {"handler_latency_ns", ColumnType::i64,
     "first time stamp of the kernel's handler minus the instant at which the timer was due"},
    {"raise_to_handler_ns", ColumnType::i64, "the part of handler_latency_ns after the interrupt was raised"},
    {"user_latency_ns", ColumnType::i64, "first time stamp of the task minus that of the handler"},
    {"answer_latency_ns", ColumnType::i64,
     "first time stamp of the task minus the instant at which the timer was due", true},
    {"flags", ColumnType::u8, "0"},
};

constexpr Need modules[] = {{"uio"}, {"howlate_uio"}};
constexpr Need devices[] = {{"edu", "source", "edu"}};

double turn_ns(const Params& in) {
  return in.number("period");
}

struct UioPlan {
  std::string_view device;
  UioWait wait = UioWait::read;
  std::int64_t period_ns = 0;
};

struct UioCounts {
  UioAccount account;
  std::int64_t lost = 0;  // overwritten before the task came
};

// The rows of what the task finds, and what is missing between them.
class UioReader {
 public:
  UioReader(UioDevice& device, PointsThread& thread, UioCounts& counts)
      : device_(device), thread_(thread), counts_(counts) {}

  // All records that are there, with the time stamp of the one who looks. One that came later has a later one: its notification may
  // be part of what was read already.
  bool take(std::int64_t now_ns) {
    for (; taken_ != device_.written(); ++taken_) {
      howlate_uio_record record;
      if (!device_.read(taken_, record)) {
        ++counts_.lost;
        continue;
      }
      if (record.handler_ns > now_ns) now_ns = monotonic_now_ns();
      if (!row(record, now_ns)) return false;
    }
    return true;
  }

 private:
  bool row(const howlate_uio_record& record, std::int64_t now_ns) {
    if (thread_.was_before_t0(record.due_ns)) {
      next_ = record.index + 1;
      return true;
    }
    for (; next_ < record.index && thread_.more(now_ns); ++next_) thread_.missed();
    if (!thread_.more(now_ns)) return false;
    ++next_;
    thread_.add(record.due_ns - thread_.t0_ns(), record.handler_ns - record.due_ns,
                record.handler_ns - record.raised_ns, now_ns - record.handler_ns, now_ns - record.due_ns, 0);
    return thread_.more(now_ns);
  }

  UioDevice& device_;
  PointsThread& thread_;
  UioCounts& counts_;
  std::uint32_t taken_ = 0;
  std::uint64_t next_ = 0;
};

Status measure(const UioPlan& uio, UioDevice& device, PointsThread& thread, UioCounts& counts) {
  if (const Status started = device.start(uio.period_ns); !started) return started;
  UioReader reader(device, thread, counts);
  Status status;
  while (!thread.stopped()) {
    const bool notified = device.wait(uio.wait);
    const std::int64_t now_ns = monotonic_now_ns();
    if (!notified && errno == EINTR) continue;
    if (!notified) {
      status = broken("no interrupt can be waited for: " + errno_text(errno));
      break;
    }
    if (uio.wait == UioWait::poll) device.took();
    if (!reader.take(now_ns)) break;
  }
  counts.account = device.stop();
  return status;
}

Error with_nearest(Error why) {
  if (!why.remedy.empty()) why.remedy += "; or ";
  why.remedy += "use the test cyclic: the wake-up latency of a timer, which needs no module";
  return why;
}

Result<UioPlan> choose_plan(const Params& in, const PointsChoice& choice) {
  if (choice.cpus.size() != 1)
    return usage_error("an interrupt comes on one CPU, not on " + cpu_list_text(choice.cpus),
                       "Give --cpus one CPU");
  if (const Status period = check_period(in, HOWLATE_IRQ_PERIOD_NS_MIN, HOWLATE_IRQ_PERIOD_NS_MAX); !period)
    return period.error();
  return UioPlan{in.text("source") == "edu" ? HOWLATE_UIO_EDU : HOWLATE_UIO_HRTIMER,
                 in.text("wait") == "poll" ? UioWait::poll : UioWait::read, in.integer("period")};
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  PointsPlan plan;
  const auto choice = choose_points(cell, plan);
  if (!choice) return choice.error();
  const auto uio = choose_plan(in, *choice);
  if (!uio) return uio.error();
  auto device = UioDevice::open(uio->device, cell.root());
  if (!device) return with_nearest(device.error());

  UioCounts counts;
  for (const std::string_view name : {"source", "wait", "period"})
    plan.labels.emplace_back(name, in.text(name));
  constexpr std::int64_t grace_ns = 30'000'000'000;
  plan.stall_ns = grace_ns + 2 * uio->period_ns;
  plan.threads.push_back({"uio", choice->cpus, choice->policy, true,
                          [&](PointsThread& thread) { return measure(*uio, **device, thread, counts); }});
  plan.conclude = [&](std::vector<PointsTable>&) {
    PointsOutcomes outcomes;
    outcomes.figures = {{"interrupts", counts.account.handled},
                        {"interrupts_missed", counts.account.due - counts.account.handled},
                        {"records_lost", counts.lost}};
    return outcomes;
  };
  return measure_points(cell, std::move(plan));
}

}  // namespace

extern const Test test_uio;
const Test test_uio = {
    .name = "uio",
    .summary = "from a driver's interrupt handler in the kernel to its handler in user space",
    .params = params,
    .columns = columns,
    .needs = "the modules uio and howlate_uio (kmod/) and root; --source edu: QEMU's device edu",
    .run = run,
    .example = "howlate-probe uio --wait poll --policy other --points 10000 --load network:flood",
    .modules = modules,
    .devices = devices,
    .turn_ns = turn_ns,
};

}  // namespace howlate
