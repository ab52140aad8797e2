// clock: how fine a clock is, and what reading it costs: the differences of successive readings.
//
// From: one reading of the clock. To: the next one, with nothing between them but the store of the first. So a difference is the
// cost of one reading, rounded to what the clock resolves, and now and then what took the CPU away meanwhile: an interrupt, another
// task, the hypervisor, the firmware. Readings are stored first and compared after the last one. Its own cost: one store and one
// loop step a reading. It disturbs the machine by a CPU that it keeps busy, half a second in each second. Source: the clock
// resolution test of a published test environment (tut-2017), which reads with clock_gettime(). docs/tests/clock.md tells more.
#include "sys/clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/text.hpp"
#include "points/points.hpp"
#include "sys/counter.hpp"
#include "tests/clock_points.hpp"
#include "tests/test.hpp"
#include "timers/sleep.hpp"

namespace howlate {

namespace {

constexpr ParamSpec params[] = {
    {"clock", ParamType::choice, "monotonic", "",
     "monotonic|monotonic_raw|realtime|boottime|tai|realtime_coarse|monotonic_coarse|cycles", "which clock"},
    {"via", ParamType::choice, "", "", "vdso|syscall",
     "how the clock is read (vdso, or the CPU's instruction for cycles)"},
    {"above", ParamType::duration, "25ns", "ns", "",
     "count the differences above it, and give the deviation without them"},
    points_param("1000000"),
    points_duration,
    points_first,
    warm_up_param,
    points_cpus,
    points_policy,
    points_occupy_all,
};

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, "number of the difference"},
    {"time_ns", ColumnType::i64, "the later of the two readings, as an offset from t0"},
    {"dt_ns", ColumnType::i64, "difference from the previous reading"},
    {"flags", ColumnType::u8, "0"},
};
constexpr std::size_t time_column = 1;
constexpr std::size_t dt_column = 2;

struct Clock {
  std::string_view name;
  clockid_t id;
};
constexpr std::array<Clock, 7> clocks = {{{"monotonic", CLOCK_MONOTONIC},
                                          {"monotonic_raw", CLOCK_MONOTONIC_RAW},
                                          {"realtime", CLOCK_REALTIME},
                                          {"boottime", CLOCK_BOOTTIME},
                                          {"tai", CLOCK_TAI},
                                          {"realtime_coarse", CLOCK_REALTIME_COARSE},
                                          {"monotonic_coarse", CLOCK_MONOTONIC_COARSE}}};

template <class Time>
std::int64_t in_ns(const Time& time) {
  return static_cast<std::int64_t>(time.tv_sec) * second_ns + time.tv_nsec;
}

// Ways to read, each a type of its own, so that nothing but the reading is in the loop.
struct ByVdso {
  clockid_t id;
  std::int64_t operator()() const {
    struct timespec now;
    ::clock_gettime(id, &now);
    return in_ns(now);
  }
};

struct BySyscall {
  clockid_t id;
  std::int64_t operator()() const {
#ifdef SYS_clock_gettime64
    constexpr long number = SYS_clock_gettime64;
#else
    constexpr long number = SYS_clock_gettime;
#endif
    KernelTimespec now;
    ::syscall(number, id, &now);
    return in_ns(now);
  }
};

struct ByCounter {
  std::int64_t operator()() const { return read_counter(); }
};

// What a thread leaves beside its readings.
struct Reader {
  std::vector<ReadingWindow> windows;  // room for all is had before
  std::int64_t last_ns = 0;            // CLOCK_MONOTONIC and the clock at the end
  std::int64_t last = 0;
};
constexpr std::int64_t windows_max = 1 << 16;
constexpr std::int64_t calibration_ns = 20'000'000;  // the least time from which a counter's rate is told

// How many readings fill half a second.
template <class Read>
std::int64_t readings_in_window(std::int64_t wanted, Read read) {
  constexpr std::int64_t tried = 1000;
  const std::int64_t before_ns = monotonic_now_ns();
  for (std::int64_t i = 0; i < tried; ++i) static_cast<void>(read());
  const std::int64_t took_ns = std::max<std::int64_t>(monotonic_now_ns() - before_ns, 1);
  return std::max({SpinWindow::on_ns * tried / took_ns, tried, wanted / windows_max + 1});
}

template <class Read>
Status read_in_windows(PointsThread& thread, Reader& reader, Read read) {
  const std::span<std::int64_t> into = thread.column(dt_column);
  const std::int64_t in_window = readings_in_window(thread.wanted(), read);
  const std::span<std::int64_t> warm = into.first(std::min<std::size_t>(into.size(), 1000));
  while (thread.is_warming_up())
    for (std::int64_t& one : warm) one = read();
  SpinWindow window(monotonic_now_ns());
  for (std::int64_t made = 0; thread.more(monotonic_now_ns());) {
    const std::int64_t upto = std::min(made + in_window, thread.wanted());
    reader.windows.push_back({made, monotonic_now_ns(), read()});
    std::int64_t* const end = into.data() + upto;
    for (std::int64_t* one = into.data() + made; one != end; ++one) *one = read();
    made = upto;
    thread.wrote(made);
    if (made < thread.wanted()) window.pause_if_over(monotonic_now_ns());
  }
  if (!reader.windows.empty()) sleep_until_ns(reader.windows.front().at_ns + calibration_ns);
  reader.last_ns = monotonic_now_ns();
  reader.last = read();
  return {};
}

Status read_counter_in_windows(PointsThread& thread, Reader& reader) {
  return read_in_windows(thread, reader, ByCounter{});
}

// The body of a thread, for what was asked.
Result<std::function<Status(PointsThread&, Reader&)>> choose_reading(Params& in) {
  const std::string& name = in.text("clock");
  if (name == "cycles") {
    if (in.given("via"))
      return usage_error("cycles are read by an instruction, not through vdso or syscall", "Leave --via out");
    if (!has_counter)
      return not_possible("this architecture's counter is not known here", "Choose another --clock");
    return std::function(read_counter_in_windows);
  }
  if (!in.is_set("via")) in.put("via", "vdso");
  const clockid_t id =
      std::find_if(clocks.begin(), clocks.end(), [&](const Clock& one) { return one.name == name; })->id;
  struct timespec now;
  if (::clock_gettime(id, &now) != 0)
    return not_possible("this kernel has no clock " + in_quotes(name) + ": " + errno_text(errno),
                        "Choose another --clock");
  if (in.text("via") == "syscall")
    return std::function([id](PointsThread& thread, Reader& reader) {
      return read_in_windows(thread, reader, BySyscall{id});
    });
  return std::function(
      [id](PointsThread& thread, Reader& reader) { return read_in_windows(thread, reader, ByVdso{id}); });
}

PointsOutcomes conclude(std::vector<PointsTable>& tables, const std::vector<std::unique_ptr<Reader>>& readers,
                        std::int64_t above_ns, bool cycles) {
  double step = 1;
  std::vector<std::int64_t> joined;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Reader& reader = *readers[i];
    if (reader.windows.empty()) continue;
    const ReadingWindow& first = reader.windows.front();
    if (cycles) step = ns_per_step(first.at_ns, first.first, reader.last_ns, reader.last);
    PointsTable& table = tables[i];
    difference(table.columns[dt_column], table.columns[time_column], reader.windows, table.t0_ns, step);
    const auto counted = table.columns[dt_column];
    joined.insert(joined.end(), counted.begin(), counted.end());
  }
  const LongDifferences all = count_long(joined, above_ns);
  PointsOutcomes outcomes;
  outcomes.figures = {
      {"above_ns", above_ns}, {"above", all.above}, {"stddev_without_ns", all.stddev_without}};
  if (cycles) outcomes.figures.emplace_back("counter_hz", static_cast<std::int64_t>(1e9 / step));
  return outcomes;
}

Result<ExitCode> run(Cell& cell) {
  Params& in = cell.params();
  PointsPlan plan;
  const auto reading = choose_reading(in);
  if (!reading) return reading.error();
  plan.labels = {{"clock", in.text("clock")}};
  if (in.is_set("via")) plan.labels.emplace_back("via", in.text("via"));
  const auto chosen = choose_points(cell, plan);
  if (!chosen) return chosen.error();
  if (const Status left = leave_a_cpu(in, chosen->cpus); !left) return left.error();
  std::vector<std::unique_ptr<Reader>> readers;
  for (const int cpu : chosen->cpus) {
    readers.push_back(std::make_unique<Reader>());
    Reader& reader = *readers.back();
    reader.windows.reserve(windows_max + 2);
    plan.threads.push_back(
        {"clock/" + std::to_string(cpu),
         {cpu},
         chosen->policy,
         true,
         [&reader, body = *reading](PointsThread& thread) { return body(thread, reader); }});
  }
  const std::int64_t above_ns = in.integer("above");
  const bool cycles = in.text("clock") == "cycles";
  plan.conclude = [&](std::vector<PointsTable>& tables) {
    return conclude(tables, readers, above_ns, cycles);
  };
  return measure_points(cell, std::move(plan));
}

// A reading, by half of each second.
double turn_ns(const Params& in) {
  return in.text("via") == "syscall" ? 500 : 100;
}

}  // namespace

extern const Test test_clock;
const Test test_clock = {
    .name = "clock",
    .summary = "differences between successive readings of a clock",
    .params = params,
    .columns = columns,
    .needs = needs_fifo_or_rr,
    .run = run,
    .example = "howlate-probe clock --clock monotonic_raw --via syscall --points 100000",
    .turn_ns = turn_ns,
};

}  // namespace howlate
