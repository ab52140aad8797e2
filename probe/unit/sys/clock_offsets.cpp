#include "sys/clock_offsets.hpp"

#include <doctest/doctest.h>

#include <map>

#include "sys/clock.hpp"

namespace howlate {
namespace {

// Clocks that go on by 50 ns with each reading.
struct Clocks {
  std::int64_t now_ns = 100 * second_ns;
  std::map<clockid_t, std::int64_t> ahead_ns{};

  ReadClock reader() {
    return [this](clockid_t clock) {
      now_ns += 50;
      return now_ns + ahead_ns[clock];
    };
  }
};

ClockChanges changes_after(Clocks& clocks, const std::function<void()>& meanwhile, std::int64_t duration_ns) {
  const ClockOffsets before = read_clock_offsets(clocks.reader());
  clocks.now_ns += duration_ns;
  meanwhile();
  return clock_changes(before, read_clock_offsets(clocks.reader()), duration_ns);
}

TEST_CASE("clocks that go on together have not changed") {
  Clocks clocks{.ahead_ns = {{CLOCK_REALTIME, 1'700'000'000 * second_ns}, {CLOCK_BOOTTIME, 7 * second_ns}}};
  const ClockChanges changes = changes_after(
      clocks, [] {}, 12 * second_ns);
  CHECK(changes.suspended_ns == 0);
  CHECK(changes.stepped_ns == 0);
  CHECK(changes.slewed_ppm == 0);
}

TEST_CASE("a suspend is no step, although the time of day goes on") {
  Clocks clocks;
  const ClockChanges changes = changes_after(
      clocks,
      [&] {
        clocks.ahead_ns = {{CLOCK_BOOTTIME, 5 * second_ns}, {CLOCK_REALTIME, 5 * second_ns}};
      },
      second_ns);
  CHECK(changes.suspended_ns == 5 * second_ns);
  CHECK(changes.stepped_ns == 0);
}

TEST_CASE("a step is told with its sign") {
  for (const std::int64_t step_ns : {2 * second_ns, -2 * second_ns, std::int64_t{5'000'000}}) {
    Clocks clocks;
    const auto set = [&] { clocks.ahead_ns[CLOCK_REALTIME] = step_ns; };
    const ClockChanges changes = changes_after(clocks, set, second_ns);
    CHECK(changes.stepped_ns == step_ns);
    CHECK(changes.suspended_ns == 0);
  }
}

TEST_CASE("a slew is told, what a crystal needs is not") {
  for (const auto& [drift_ns, ppm] :
       {std::pair<std::int64_t, std::int64_t>{-5'000'000, 500}, {5'000'000, -500}, {-400'000, 0}}) {
    Clocks clocks;
    const auto slew = [&, drift = drift_ns] { clocks.ahead_ns[CLOCK_MONOTONIC_RAW] = drift; };
    CHECK(changes_after(clocks, slew, 10 * second_ns).slewed_ppm == ppm);
  }
}

TEST_CASE("of the readings the one with the closest neighbours counts") {
  int calls = 0;
  std::int64_t now_ns = 0;
  const ReadClock held = [&](clockid_t clock) {
    now_ns += ++calls % 3 == 0 && calls > 3 ? 100 : 30'000'000;  // the CPU was lost in the first try
    return now_ns + (clock == CLOCK_REALTIME ? second_ns : 0);
  };
  const ClockOffsets offsets = read_clock_offsets(held);
  CHECK(offsets.realtime_ns > second_ns - 30'000'000);
  CHECK(offsets.realtime_ns < second_ns + 30'000'000);
}

}  // namespace
}  // namespace howlate
