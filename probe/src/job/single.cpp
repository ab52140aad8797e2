#include "job/single.hpp"

#include <cstddef>
#include <string>

#include "core/schedule.hpp"
#include "core/stream.hpp"
#include "job/pci.hpp"
#include "job/stop.hpp"
#include "job/window.hpp"
#include "sys/clock.hpp"
#include "sys/root.hpp"
#include "sys/tasks.hpp"

namespace howlate {
namespace {

// After the window's own words.
enum Word : std::size_t {
  state_word = 8,     // State
  clock_word = 9,     // machine_clock_ns() just before the machine stops the first time
  t0_word = 10,       // CLOCK_MONOTONIC: the release that the plan has
  moment_word = 11,   // CLOCK_MONOTONIC when the CPU time of all tasks was taken
  instant_word = 12,  // the host's: CLOCK_MONOTONIC of the release, as a number of fixed width
  latency_word = 13,
  early_word = 14,    // wake-ups before the release
  armed_word = 15,    // CLOCK_MONOTONIC after the instant was read
  stopped_word = 16,  // CLOCK_MONOTONIC just before the machine stops the first time
  witness_word = 17,  // the host's: whether to tell after the release what it tells before it
  run_word = 18,      // CPU time of all tasks; all ones: not counted
  threads_word = 19,  // length of the list of real-time threads, which stands where a result does
  crc_word = 20,      // its CRC32C
};
enum State : std::uint64_t { stopped_before = 1, has_latency = 2 };

class Single {
 public:
  explicit Single(const PciMemory& memory)
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the bytes of a device, looked at as words
      : words_(reinterpret_cast<volatile std::uint64_t*>(memory.at())),
        size_(memory.bytes() / sizeof *words_) {}

  // Until the machine has gone on with the host's instant. The threads are listed before the wake-up: that takes milliseconds.
  std::int64_t stop_before(std::int64_t t0_ns, const Stop& stop) {
    tell_threads();
    asleep_at_ns_ = thread_run_time_ns();
    sleep_until_ns(t0_ns - single_lead_ns);
    tell_run_time();
    put(t0_word, t0_ns);
    put(stopped_word, monotonic_now_ns());
    words_[state_word] = stopped_before;
    words_[clock_word] = machine_clock_ns();
    stop.stop();
    const auto instant_ns = static_cast<std::int64_t>(words_[instant_word]);
    put(armed_word, monotonic_now_ns());
    asleep_at_ns_ = thread_run_time_ns();
    return instant_ns;
  }

  void stop_after(const LoopContext& loop, const Stop& stop) {
    put(latency_word, loop.latency_ns_max);
    put(early_word, loop.early);
    if (words_[witness_word] != 0) {
      tell_run_time();
      tell_threads();
    }
    words_[state_word] = has_latency;
    stop.stop();
  }

 private:
  void put(Word word, std::int64_t value) { words_[word] = static_cast<std::uint64_t>(value); }

  // The scheduler counts a task's time when it leaves the CPU: what this one has used since its wake-up is added.
  void tell_run_time() {
    const auto others_ns = read_run_time_ns({});
    put(moment_word, monotonic_now_ns());
    put(run_word, others_ns ? *others_ns + thread_run_time_ns() - asleep_at_ns_ : -1);
  }

  void tell_threads() {
    std::string text;
    for (const RealTimeThread& thread : read_real_time_threads({})) text += line_of(thread);
    const auto bytes = std::as_bytes(std::span(text));
    Window window(std::span(words_, size_));
    window.put(bytes);
    window.flush();
    words_[threads_word] = text.size();
    words_[crc_word] = crc32c(bytes);
  }

  static std::string line_of(const RealTimeThread& thread) {
    std::string line;
    for (const long long number :
         {static_cast<long long>(thread.task.pid), thread.task.policy, thread.task.priority,
          static_cast<long long>(thread.run_ns), thread.slices})
      line += std::to_string(number) + ' ';
    return line + thread.task.name + '\n';
  }

  volatile std::uint64_t* words_;
  std::size_t size_;
  std::int64_t asleep_at_ns_ = 0;  // this thread's CPU time when it went to sleep
};

}  // namespace

Status run_single(LoopContext& loop) {
  const Result<std::string> folder = find_pci({}, Window::vendor, Window::device);
  if (!folder) return folder.error();
  const Result<PciMemory> memory = PciMemory::map(*folder, Window::bar);
  if (!memory) return memory.error();
  const Result<Stop> stop = Stop::find({});
  if (!stop) return stop.error();
  const Result<const Timer*> timer = find_timer("clock_nanosleep");
  if (!timer) return timer.error();

  Single single(*memory);
  ScheduleSpec schedule = loop.schedule.spec();
  schedule.t0_ns = single.stop_before(schedule.t0_ns, *stop);
  loop.schedule = Schedule(schedule);
  const Status status = (*timer)->run(loop);
  single.stop_after(loop, *stop);
  return status;
}

}  // namespace howlate
