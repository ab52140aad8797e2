// What is made of the four instants of a preemption.
#include "tests/preemption_points.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

TEST_CASE(
    "a preemption's columns are the gaps between its instants, less the time that was spun on purpose") {
  const Preemption point = judge({1000, 1800, 102'050, 102'900}, 100'000);
  CHECK(point.cs1_ns == 800);
  CHECK(point.wait_ns == 250);
  CHECK(point.cs2_ns == 850);
  CHECK(point.passed);
}

TEST_CASE("it passes only where each instant is after the one before") {
  CHECK(!judge({1000, 1000, 2000, 3000}, 500).passed);
  CHECK(!judge({1000, 900, 2000, 3000}, 500).passed);
  CHECK(!judge({1000, 1500, 1500, 3000}, 0).passed);
  CHECK(!judge({1000, 1500, 2000, 2000}, 500).passed);
  CHECK(!judge({1000, 1500, 2000, 1999}, 500).passed);
}

}  // namespace
}  // namespace howlate
