// /proc/interrupts and /proc/softirqs.
#include "sys/interrupts.hpp"

#include <doctest/doctest.h>

#include "fixture.hpp"

namespace howlate {
namespace {

using Counts = std::vector<std::pair<int, long long>>;

TEST_CASE("a line's counts belong to the CPUs that the columns name; what stands behind them is its name") {
  const auto lines = parse_interrupts(
      "            CPU0       CPU3\n"
      "   1:          0          9   IO-APIC   1-edge      i8042\n"
      " LOC:      12345          0   Local timer interrupts\n"
      " ERR:          7\n"
      "IPI0:          1          2       Rescheduling interrupts\n");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].label == "1");
  CHECK(lines[0].name == "IO-APIC 1-edge i8042");
  CHECK(lines[0].counts == Counts{{3, 9}});
  CHECK(lines[1].counts == Counts{{0, 12345}});
  CHECK(lines[2].name.empty());
  CHECK(lines[2].counts == Counts{{0, 7}});
  CHECK(lines[3].counts == Counts{{0, 1}, {3, 2}});
  CHECK(is_device_interrupt(lines[0].label));
  CHECK_FALSE(is_device_interrupt(lines[1].label));
  CHECK_FALSE(is_device_interrupt(""));
}

TEST_CASE("softirqs have the same form, and the columns of CPUs that are not there are kept apart") {
  const auto lines = parse_interrupts("        CPU0 CPU1\n HI: 0 0\nTIMER: 5 4294967295\nhalf: 1\n");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].counts.empty());
  CHECK(lines[1].counts == Counts{{0, 5}, {1, 4'294'967'295}});
  CHECK(lines[2].counts == Counts{{0, 1}});
}

TEST_CASE("odd text is no crash and no count") {
  CHECK(parse_interrupts("").empty());
  CHECK(parse_interrupts("CPU0").empty());
  CHECK(parse_interrupts("\n\n").empty());
  const auto lines =
      parse_interrupts("CPU0 CPUx CPU99999999999 CPU-1\n5: -3 a\n6: 99999999999999999999 x\n: 4\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].counts.empty());
  CHECK(lines[0].name == "-3 a");
  CHECK(lines[1].counts.empty());
}

TEST_CASE("a file that is not there or empty is told") {
  const Fixture fixture;
  CHECK_FALSE(read_interrupts(fixture.root()));
  fixture.write("/proc/interrupts", "\n");
  CHECK(read_interrupts(fixture.root()).error().message == "/proc/interrupts is empty");
}

}  // namespace
}  // namespace howlate
