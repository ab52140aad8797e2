// What the scheduler's questions reckon: instants of wake-ups, limits, and the moment at which the CPU is taken, with made readings.
#include "tests/scheduler_points.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace howlate {
namespace {

// The readings that a gap was found between, or {0, 0}. Before the reading number `first_turn` the other task has its first turn.
struct Found {
  std::int64_t begin_ns = 0, end_ns = 0;
  bool operator==(const Found&) const = default;
};
Found search(std::int64_t begin_ns, std::initializer_list<std::int64_t> readings, int first_turn) {
  std::atomic<std::int64_t> turns{7};
  TakenGap gap(begin_ns, turns);
  int number = 0;
  for (const std::int64_t now_ns : readings) {
    if (number++ == first_turn) turns.fetch_add(1);
    if (gap.take(now_ns)) return {gap.begin_ns(), gap.end_ns()};
  }
  return {};
}
constexpr int never = -1;

TEST_CASE("throttling: the CPU was taken between the two readings that the other task ran between") {
  CHECK(search(1000, {1050, 1100, 50'001'100, 50'001'150}, 2) == Found{1100, 50'001'100});
}

TEST_CASE("throttling: the first reading counts from the begin of the spinning") {
  CHECK(search(1000, {60'000}, 0) == Found{1000, 60'000});
}

TEST_CASE("throttling: a gap in which the other task did not run is not its own, however long") {
  CHECK(search(1000, {1050, 900'000'000, 900'000'050}, never) == Found{});
  CHECK(search(1000, {1050, 900'000'000, 900'000'050, 950'000'050}, 3) == Found{900'000'050, 950'000'050});
}

TEST_CASE("throttling: what is no longer than the least is an interrupt's") {
  constexpr std::int64_t least = TakenGap::least_ns;
  CHECK(search(0, {100, 100 + least, 100 + least + 50}, 1) == Found{});
  CHECK(search(0, {100, 100 + least + 1}, 1) == Found{100, 100 + least + 1});
}

TEST_CASE("throttling: turns before the begin are not of this gap") {
  std::atomic<std::int64_t> turns{0};
  turns.fetch_add(1'000'000);
  TakenGap gap(0, turns);
  CHECK_FALSE(gap.take(1'000'000'000));
  turns.fetch_add(1);
  CHECK(gap.take(2'000'000'000));
}

TEST_CASE("syscall: wake-ups walk through the call, half a millisecond to a whole one ahead, none twice") {
  constexpr std::int64_t now_ns = 1'234'567'890'123;
  std::set<std::int64_t> ahead_ns;
  for (std::int64_t step = 0; step < 500'000; ++step) ahead_ns.insert(next_release_ns(now_ns, step) - now_ns);
  CHECK(ahead_ns.size() == 500'000);
  CHECK(*ahead_ns.begin() == 500'000);
  CHECK(*ahead_ns.rbegin() == 999'999);
  CHECK(next_release_ns(now_ns, 500'000) == next_release_ns(now_ns, 0));
}

TEST_CASE("syscall: as many descriptors as are enough, never more than allowed, never fewer than there are") {
  CHECK(descriptors_to_name(1024, 1'048'576) == descriptors_enough);
  CHECK(descriptors_to_name(1024, 4096) == 4096);
  CHECK(descriptors_to_name(1'000'000, 1'048'576) == 1'000'000);
  CHECK(descriptors_to_name(1024, RLIM_INFINITY) == descriptors_enough);
}

TEST_CASE("inversion: times from a nanosecond to 100 ms, and two priorities below the one that waits") {
  CHECK(check_inversion(1, 1, 3).ok());
  CHECK(check_inversion(100'000'000, 100'000'000, 99).ok());
  for (const auto& [hold_ns, between_ns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 1}, {1, 0}, {-1, 1}, {100'000'001, 1}, {1, 100'000'001}}) {
    const Status times = check_inversion(hold_ns, between_ns, 80);
    REQUIRE_FALSE(times.ok());
    CHECK(times.error().message.find("--between") != std::string::npos);
  }
  const Status levels = check_inversion(1, 1, levels_below);
  REQUIRE_FALSE(levels.ok());
  CHECK(levels.error().message.find("three priorities") != std::string::npos);
}

}  // namespace
}  // namespace howlate
