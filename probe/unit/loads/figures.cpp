// What a worker counts, and the pace that it keeps, against a clock that the test holds.
#include "loads/base/figures.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "core/json.hpp"

namespace howlate {
namespace {

constexpr Times times = {0, 1, 2, 3};

std::string told(const WorkerSlot& slot) {
  JsonWriter json;
  json.begin_object();
  tell_times(json, "run_ns", slot, times);
  return json.end_object().take();
}

TEST_CASE("times are told by their mean and extremes, and without any by null") {
  const auto slot = std::make_unique<WorkerSlot>();
  CHECK(told(*slot) == R"({"run_ns_mean": null, "run_ns_min": null, "run_ns_max": null})");
  for (const std::int64_t took_ns : {7, 3, 5}) add_time(*slot, times, took_ns);
  CHECK(figure(*slot, times.count) == 3);
  CHECK(told(*slot) == R"({"run_ns_mean": 5.0, "run_ns_min": 3, "run_ns_max": 7})");
}

TEST_CASE("a pace is kept whatever the turns take, and a long absence is made up for by a second at most") {
  constexpr std::int64_t ms = 1'000'000, start_ns = 5'000 * ms;
  Pace pace(10.0 * ms, start_ns);
  CHECK(pace.next_ns(start_ns + ms) == start_ns + 10 * ms);
  CHECK(pace.next_ns(start_ns + 35 * ms) == start_ns + 20 * ms);  // late: the next is due already
  CHECK(pace.next_ns(start_ns + 36 * ms) == start_ns + 30 * ms);
  CHECK(pace.next_ns(start_ns + 37 * ms) == start_ns + 40 * ms);  // caught up
  const std::int64_t back_ns = start_ns + 60'000 * ms;            // stopped for a minute
  std::int64_t owed = 0;
  while (pace.next_ns(back_ns) <= back_ns) ++owed;
  CHECK(owed == 101);
}

}  // namespace
}  // namespace howlate
