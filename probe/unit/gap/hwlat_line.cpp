#include "gap/hwlat_line.hpp"

#include <doctest/doctest.h>

#include "core/random.hpp"

namespace howlate {
namespace {

constexpr std::string_view example =
    "           <...>-1729  [001] d..1.   679.310279: #1     inner/outer(us):   11/13    "
    "ts:1499801089.066141940 count:2";

TEST_CASE("a line of hwlat is read") {
  const auto line = read_hwlat_line(example);
  REQUIRE(line.has_value());
  CHECK(line->cpu == 1);
  CHECK(line->inner_ns == 11'000);
  CHECK(line->outer_ns == 13'000);
  CHECK(line->gap_ns() == 13'000);
  CHECK(line->realtime_ns == 1'499'801'089'066'141'940);
  CHECK(line->count == 2);
}

TEST_CASE("kernels that do not count have one a line, and what follows does no harm") {
  const auto line = read_hwlat_line(
      " <...>-9  [000] d... 3.310279: #2     inner/outer(us):   50/4    ts:12.000000001 nmi-total:4 "
      "nmi-count:1");
  REQUIRE(line.has_value());
  CHECK(line->count == 1);
  CHECK(line->gap_ns() == 50'000);
  CHECK(line->realtime_ns == 12'000'000'001);
}

TEST_CASE("any other line is none, and a damaged one is read or refused") {
  CHECK_FALSE(read_hwlat_line("").has_value());
  CHECK_FALSE(read_hwlat_line("# tracer: hwlat").has_value());
  SplitMix random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text(example);
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    text.resize(random.below(text.size() + 1));
    const auto line = read_hwlat_line(text);
    if (line) CHECK(line->gap_ns() >= 0);
  }
}

TEST_CASE("masks of CPUs are written in words of 32") {
  CHECK(cpu_mask_text({0}) == "1");
  CHECK(cpu_mask_text({0, 3}) == "9");
  CHECK(cpu_mask_text({31}) == "80000000");
  CHECK(cpu_mask_text({33, 0}) == "2,00000001");
}

}  // namespace
}  // namespace howlate
