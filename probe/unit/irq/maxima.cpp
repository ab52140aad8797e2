// The maxima of a run that keeps nothing else.
#include <doctest/doctest.h>

#include "irq/source.hpp"

namespace howlate {
namespace {

TEST_CASE("the maxima are those of all interrupts, each by itself") {
  IrqMaxima maxima;
  CHECK_FALSE(maxima.any());
  maxima.note(2000, 50, 700);
  maxima.note(3000, 80, 600);
  CHECK(maxima.any());
  CHECK(maxima.interrupts == 2);
  CHECK(maxima.irq_latency_ns == 80);
  CHECK(maxima.wake_latency_ns == 700);
  CHECK(maxima.at_ns == 2000);
}

}  // namespace
}  // namespace howlate
