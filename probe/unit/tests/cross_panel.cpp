// The threads that are asked: asleep until they are called, awake until they are dismissed, and gone at the end of the run.
#include "tests/cross_panel.hpp"

#include <doctest/doctest.h>

#include "points/ran.hpp"

namespace howlate {
namespace {

constexpr ColumnSpec columns[] = {{"index", ColumnType::i64, ""}, {"flags", ColumnType::u8, ""}};

// A panel of two threads of the frame, and `ask` on a third that records; how often each thread attended.
std::vector<std::int64_t> ask_two(const std::function<void(PointsThread&, Panel&)>& ask) {
  Panel panel({0, 0});
  std::vector<std::atomic<std::int64_t>> attended(2);
  PointsPlan plan;
  plan.columns = columns;
  plan.points = 1;
  plan.threads.push_back({"asks", {}, {}, true, [&](PointsThread& thread) -> Status {
                            ask(thread, panel);
                            return {};
                          }});
  for (std::size_t i = 0; i < 2; ++i)
    plan.threads.push_back({"asked", {}, {}, false, [&, i](PointsThread& thread) -> Status {
                              sit(thread, panel.seat(i), [&] { attended[i].fetch_add(1); });
                              return {};
                            }});
  REQUIRE(Ran(plan).status.ok());
  return {attended[0].load(), attended[1].load()};
}

TEST_CASE("an assembled panel has heard that nobody is called") {
  const auto attended = ask_two([](PointsThread& thread, Panel& panel) {
    REQUIRE(panel.assemble(thread));
    CHECK(panel.seat(0).heard.load() == 0);
    CHECK(panel.seat(1).heard.load() == 0);
  });
  CHECK(attended == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("a thread that is called wakes after the call, and another stays asleep") {
  int in_order = 0;
  const auto attended = ask_two([&](PointsThread& thread, Panel& panel) {
    for (int i = 0; i < 100; ++i) {
      REQUIRE(panel.dismiss(thread));
      const std::int64_t before_ns = monotonic_now_ns();
      const auto answer = Panel::wake(thread, panel.seat(0));
      REQUIRE(answer.has_value());
      if (answer->woke_ns >= before_ns && answer->woke_ns <= monotonic_now_ns()) ++in_order;
    }
  });
  CHECK(in_order == 100);
  CHECK(attended[1] == 0);
}

TEST_CASE("all that are gathered attend until they are dismissed, and not after") {
  const auto attended = ask_two([&](PointsThread& thread, Panel& panel) {
    REQUIRE(panel.dismiss(thread));
    REQUIRE(panel.gather(thread));
    sleep_until_ns(monotonic_now_ns() + 20'000'000);
    REQUIRE(panel.dismiss(thread));
    CHECK(panel.seat(0).heard.load() == 2);
    CHECK(panel.seat(1).heard.load() == 2);
  });
  CHECK(attended[0] > 0);
  CHECK(attended[1] > 0);
}

TEST_CASE("a run that ends while somebody is awake ends for all") {
  const auto attended = ask_two([](PointsThread& thread, Panel& panel) {
    REQUIRE(panel.dismiss(thread));
    REQUIRE(panel.gather(thread));
  });
  CHECK(attended.size() == 2);
}

}  // namespace
}  // namespace howlate
