#include "sys/gravity.hpp"

#include <doctest/doctest.h>

#include "sys/setting.hpp"

using namespace howlate;

TEST_CASE("the gravity of a clock is read as either core spells it") {
  const Gravity wanted{0, 2000, 2500};
  const auto cobalt = parse_gravity(
      "gravity: irq=0 kernel=2000 user=2500\n devices: timer=lapic, clock=<Linux clocksource>\n  ticks: "
      "523425839 (0000 1f32d82f)");
  REQUIRE(cobalt.ok());
  CHECK(*cobalt == wanted);
  const auto evl = parse_gravity("0i 2000k 2500u\n");
  REQUIRE(evl.ok());
  CHECK(*evl == wanted);
}

TEST_CASE("what is written is read back as the same gravity") {
  for (const Gravity& gravity : {Gravity{}, Gravity{1, 2, 3}, Gravity{1'000'000, 0, 7}}) {
    const auto read = parse_gravity(gravity_text(gravity));
    REQUIRE(read.ok());
    CHECK(*read == gravity);
  }
}

TEST_CASE("a text without all three is no gravity") {
  for (const char* text : {"", "0i 2000k", "gravity: irq=0 kernel=x user=1", "enabled"})
    CHECK_FALSE(parse_gravity(text).ok());
}

TEST_CASE("a setting of a gravity compares by value") {
  CHECK(same_value(Form::gravity, "gravity: irq=0 kernel=0 user=0\n devices: timer=lapic", "0i 0k 0u"));
  CHECK_FALSE(same_value(Form::gravity, "0i 2000k 2000u", "0i 0k 0u"));
}
