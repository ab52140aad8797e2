#include "irq/timerlat_line.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/random.hpp"

namespace howlate {
namespace {

constexpr std::string_view irq_line =
    "          <idle>-0       [003] d.h1.    54.029328: #7     context    irq timer_latency      1234 ns";
constexpr std::string_view thread_line =
    "      timerlat/3-868     [003] .....    54.029339: #7     context thread timer_latency     11700 ns";

TEST_CASE("lines of both contexts are read") {
  const auto irq = read_timerlat_line(irq_line);
  REQUIRE(irq.has_value());
  CHECK(irq->irq);
  CHECK(irq->number == 7);
  CHECK(irq->latency_ns == 1234);
  CHECK(irq->stamp_ns == 54'029'328'000);
  const auto thread = read_timerlat_line(thread_line);
  REQUIRE(thread.has_value());
  CHECK_FALSE(thread->irq);
  CHECK(thread->number == 7);
  CHECK(thread->latency_ns == 11700);
}

TEST_CASE("any other line is none") {
  CHECK_FALSE(read_timerlat_line("").has_value());
  CHECK_FALSE(read_timerlat_line("# tracer: timerlat").has_value());
  CHECK_FALSE(read_timerlat_line("#   TASK-PID   CPU#  |||||  TIMESTAMP  FUNCTION").has_value());
  CHECK_FALSE(read_timerlat_line("CPU:0 [LOST 12 EVENTS]").has_value());
  const std::string user =
      "  rtla-1  [003] .....    54.029339: #7     context user ret timer_latency     11700 ns";
  CHECK_FALSE(read_timerlat_line(user).has_value());
}

TEST_CASE("a damaged line is read or refused, and nothing beyond it is read") {
  SplitMix random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text(irq_line);
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    text.resize(random.below(text.size() + 1));
    const auto line = read_timerlat_line(text);
    if (line) CHECK(line->latency_ns <= 1'000'000'000'000'000);
  }
}

}  // namespace
}  // namespace howlate
