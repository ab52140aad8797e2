// The frame of the tests of data points: what a body sees, the watchdog, a whole run into a stream.
#include "points/points.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <filesystem>
#include <numeric>

#include "cell/run.hpp"
#include "core/stream_reader.hpp"
#include "points/ran.hpp"
#include "points/report.hpp"
#include "points/watchdog.hpp"

namespace howlate {
namespace {

constexpr ColumnSpec columns[] = {
    {"index", ColumnType::i64, ""},
    {"time_ns", ColumnType::i64, ""},
    {"value_ns", ColumnType::i64, ""},
    {"flags", ColumnType::u8, ""},
};

PointsPlan plan_of(std::int64_t points, std::function<Status(PointsThread&)> body) {
  PointsPlan plan;
  plan.columns = columns;
  plan.points = points;
  plan.threads.push_back({"unit", {}, {}, true, std::move(body)});
  return plan;
}

TEST_CASE("points are made until the number wanted, and a missed one leaves its index out") {
  const PointsPlan plan = plan_of(4, [](PointsThread& thread) -> Status {
    for (std::int64_t i = 0; thread.more(0); ++i) {
      if (i == 1) {
        thread.missed();
      } else {
        thread.add(i * 10, i * 100, 0);
      }
    }
    return {};
  });
  Ran ran(plan);
  REQUIRE(ran.status.ok());
  CHECK(ran.first().rows() == 3);
  CHECK(ran.first().missed_points() == 1);
  const auto index = ran.first().column(0);
  CHECK(std::vector(index.begin(), index.begin() + 3) == std::vector<std::int64_t>{0, 2, 3});
  CHECK(ran.first().column(2)[2] == 300);
}

TEST_CASE("--duration ends it, and is told from a number reached") {
  PointsPlan plan = plan_of(10, [](PointsThread& thread) -> Status {
    for (std::int64_t now_ns = thread.t0_ns(); thread.more(now_ns); now_ns += 1000) thread.add(now_ns, 1, 0);
    return {};
  });
  plan.duration_ns = 3500;
  Ran ran(plan);
  CHECK(ran.first().rows() == 4);
  CHECK(ran.first().out_of_time());
}

TEST_CASE("threads that record nothing end with the last one that records, and all end with a failure") {
  PointsPlan plan = plan_of(3, [](PointsThread& thread) -> Status {
    while (thread.more(0)) thread.add(0, 0, 0);
    return {};
  });
  bool helper_ended = false;
  const auto helper = [&](PointsThread& thread) -> Status {
    while (!thread.stopped()) sleep_until_ns(monotonic_now_ns() + 100'000);
    helper_ended = true;
    return {};
  };
  plan.threads.push_back({"helper", {}, {}, false, helper});
  Ran ran(plan);
  CHECK(helper_ended);

  PointsPlan failing = plan_of(3, [](PointsThread&) -> Status { return broken("on purpose"); });
  failing.threads.push_back({"helper", {}, {}, false, helper});
  Ran failed(failing);
  CHECK(failed.threads.runs().front()->status.error().message == "on purpose");
}

TEST_CASE("what a body uses before its account begins is not the run's") {
  constexpr std::size_t pages = 64, page = 4096;
  const auto touch = [](PointsThread& thread, bool count_from) -> Status {
    void* const place =
        ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(place, pages * page, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(place)[i * page] = 1;
    if (count_from) thread.count_from(read_thread_usage());
    while (thread.more(0)) thread.add(0, 0, 0);
    ::munmap(place, pages * page);
    return {};
  };
  const PointsPlan counted = plan_of(3, [&](PointsThread& thread) { return touch(thread, false); });
  const PointsPlan left_out = plan_of(3, [&](PointsThread& thread) { return touch(thread, true); });
  CHECK(Ran(counted).threads.runs().front()->counters.minor_faults >= static_cast<std::int64_t>(pages));
  CHECK(Ran(left_out).threads.runs().front()->counters.minor_faults < static_cast<std::int64_t>(pages));
}

TEST_CASE("points before t0 are counted and not kept, and what they used is not the run's") {
  constexpr std::size_t pages = 64, page = 4096;
  PointsPlan plan = plan_of(3, [](PointsThread& thread) -> Status {
    void* const place =
        ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(place, pages * page, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(place)[i * page] = 1;
    for (std::int64_t now_ns = monotonic_now_ns(); thread.more(now_ns); now_ns = monotonic_now_ns())
      thread.add(now_ns - thread.t0_ns(), 0, 0);
    ::munmap(place, pages * page);
    return {};
  });
  plan.warm_up_ns = 5'000'000;
  WakeFd wake_fd = std::move(*WakeFd::make());
  PointsThreads threads(Root(), wake_fd);
  REQUIRE(threads.make(plan).ok());
  REQUIRE(threads.start().ok());
  threads.open(plan, monotonic_now_ns() + plan.warm_up_ns);
  threads.group().join();
  const auto& run = *threads.runs().front();
  CHECK(run.seen.rows() == 3);
  CHECK(run.seen.warm_up().activations > 0);
  CHECK(run.seen.warm_up().releases == run.seen.warm_up().activations);
  CHECK(run.seen.column(1).front() >= 0);
  CHECK(run.counters.minor_faults < static_cast<std::int64_t>(pages));
}

TEST_CASE("a run in which no point comes is stopped by the watchdog") {
  PointsPlan plan = plan_of(2, [](PointsThread& thread) -> Status {
    while (thread.more(monotonic_now_ns())) sleep_until_ns(monotonic_now_ns() + 100'000);
    return {};
  });
  plan.stall_ns = 10'000'000;
  WakeFd wake_fd = std::move(*WakeFd::make());
  PointsThreads threads(Root(), wake_fd);
  REQUIRE(threads.make(plan).ok());
  REQUIRE(threads.start().ok());
  Watchdog watchdog(threads);
  REQUIRE(watchdog.start(plan, Root()).ok());
  threads.open(plan, monotonic_now_ns());
  threads.group().join();
  CHECK(watchdog.barked());
}

TEST_CASE("statistics are of the columns of times, where a point lies is none") {
  std::vector<std::int64_t> index = {0, 1, 2}, time = {5, 6, 7}, value = {1000, 10, 20}, flags = {0, 0, 2};
  std::vector<PointsTable> tables = {{3, 0, 0, {index, time, value, flags}}};
  const auto found = points_statistics(columns, tables);
  REQUIRE(found.size() == 1);
  CHECK(found.front().name == "value_ns");
  CHECK(found.front().values.count() == 3);
  CHECK(found.front().values.max() == 1000);
}

TEST_CASE("outcomes are JSON: counts where there are some, and the test's own figures") {
  CHECK(outcomes_json({}) == "{}");
  CHECK(outcomes_json({3, 0, {{"above", std::int64_t{7}}, {"deviation_ns", 0.5}}}) ==
        R"({"passes": 3, "failures": 0, "above": 7, "deviation_ns": 0.5})");
}

}  // namespace
}  // namespace howlate
