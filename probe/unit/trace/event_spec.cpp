// Which interrupts are the CPUs' own timers.
#include "trace/event_spec.hpp"

#include <doctest/doctest.h>

#include "sys/fixture.hpp"

namespace howlate {
namespace {

TEST_CASE("Hyper-V's timers interrupt by a vector without an event, where they are in use") {
  const Fixture fixture;
  CHECK_FALSE(timer_has_no_event(fixture.root()));
  fixture.write("/proc/interrupts", "  CPU0 CPU1\nLOC: 7 9 Local timer interrupts\n");
  CHECK_FALSE(timer_has_no_event(fixture.root()));
  fixture.write("/proc/interrupts",
                "  CPU0 CPU1\nLOC: 0 0 Local timer interrupts\nHVS: 0 0 Hyper-V stimer0 interrupts\n");
  CHECK_FALSE(timer_has_no_event(fixture.root()));
  fixture.write("/proc/interrupts",
                "  CPU0 CPU1\nLOC: 0 0 Local timer interrupts\nHVS: 0 8 Hyper-V stimer0 interrupts\n");
  CHECK(timer_has_no_event(fixture.root()));
}

}  // namespace
}  // namespace howlate
