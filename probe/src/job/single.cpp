#include "job/single.hpp"

#include <cstddef>

#include "core/schedule.hpp"
#include "job/pci.hpp"
#include "job/stop.hpp"
#include "job/window.hpp"
#include "sys/clock.hpp"

namespace howlate {
namespace {

// After the window's own words.
enum Word : std::size_t {
  state_word = 8,     // State
  clock_word = 9,     // machine_clock_ns() just before the machine stops the first time
  t0_word = 10,       // CLOCK_MONOTONIC: the release that the plan has
  now_word = 11,      // CLOCK_MONOTONIC at the stop
  instant_word = 12,  // the host's: CLOCK_MONOTONIC of the release, as a number of fixed width
  latency_word = 13,
  early_word = 14,  // wake-ups before the release
  armed_word = 15,  // CLOCK_MONOTONIC after the instant was read
};
enum State : std::uint64_t { stopped_before = 1, has_latency = 2 };

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
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the bytes of a device, looked at as words
  auto* const words = reinterpret_cast<volatile std::uint64_t*>(memory->at());

  ScheduleSpec schedule = loop.schedule.spec();
  sleep_until_ns(schedule.t0_ns - single_lead_ns);
  words[t0_word] = static_cast<std::uint64_t>(schedule.t0_ns);
  words[now_word] = static_cast<std::uint64_t>(monotonic_now_ns());
  words[state_word] = stopped_before;
  words[clock_word] = machine_clock_ns();
  stop->stop();
  schedule.t0_ns = static_cast<std::int64_t>(words[instant_word]);
  words[armed_word] = static_cast<std::uint64_t>(monotonic_now_ns());
  loop.schedule = Schedule(schedule);
  const Status status = (*timer)->run(loop);
  words[latency_word] = static_cast<std::uint64_t>(loop.latency_ns_max);
  words[early_word] = static_cast<std::uint64_t>(loop.early);
  words[state_word] = has_latency;
  stop->stop();
  return status;
}

}  // namespace howlate
