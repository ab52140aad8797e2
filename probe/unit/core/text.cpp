#include "core/text.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

TEST_CASE("the edit distance counts insertions, deletions, substitutions and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("period", "period") == 0);
  CHECK(edit_distance("perod", "period") == 1);
  CHECK(edit_distance("peroid", "period") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is found where one is near, and none where none is") {
  constexpr std::string_view names[] = {"clock_nanosleep", "timerfd", "setitimer", "futex", "spin"};
  CHECK(nearest_name("clock-nanosleep", names) == "clock_nanosleep");
  CHECK(nearest_name("clock", names) == "clock_nanosleep");
  CHECK(nearest_name("TimerFD", names) == "timerfd");
  CHECK(nearest_name("fuetx", names) == "futex");
  CHECK(nearest_name("zzz", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("x", {}).empty());
}

TEST_CASE("an unknown name is a usage error with a remedy") {
  constexpr std::string_view names[] = {"cpu", "disk"};
  CHECK(unknown_name("load", "dsik", names).remedy == "did you mean \"disk\"?");
  CHECK(unknown_name("load", "banana", names).remedy == "choose one of cpu, disk");
  CHECK(unknown_name("load", "banana", names).message == "there is no load \"banana\"");
  CHECK(unknown_name("load", "banana", {}).code == ExitCode::usage);
}

TEST_CASE("durations have three digits and a unit that rounding does not leave") {
  CHECK(format_duration_ns(0) == "0 ns");
  CHECK(format_duration_ns(999) == "999 ns");
  CHECK(format_duration_ns(1'000) == "1.00 us");
  CHECK(format_duration_ns(9'994) == "9.99 us");
  CHECK(format_duration_ns(9'996) == "10.0 us");
  CHECK(format_duration_ns(12'345) == "12.3 us");
  CHECK(format_duration_ns(99'960) == "100 us");
  CHECK(format_duration_ns(999'499) == "999 us");
  CHECK(format_duration_ns(999'600) == "1.00 ms");
  CHECK(format_duration_ns(33'100'000'000) == "33.1 s");
  CHECK(format_duration_ns(125'000'000'000) == "2 min 05 s");
  CHECK(format_duration_ns(7'500'000'000'000) == "2 h 05 min");
  CHECK(format_duration_ns(-12'345) == "-12.3 us");
  CHECK(format_duration_ns(INT64_MIN).starts_with("-2562047 h"));
}

TEST_CASE("durations are spelt exactly") {
  CHECK(spell_duration_ns(0) == "0ns");
  CHECK(spell_duration_ns(1'500'000) == "1500us");
  CHECK(spell_duration_ns(250) == "250ns");
  CHECK(spell_duration_ns(2'000'000'000) == "2s");
  CHECK(spell_duration_ns(1'000'000) == "1ms");
}

TEST_CASE("splitting and joining are each other's inverse") {
  CHECK(split("", '|').empty());
  CHECK(split("a||b", '|').size() == 3);
  CHECK(join(split("skip|backlog", '|'), ", ") == "skip, backlog");
}

TEST_CASE("an error is a sentence or two") {
  CHECK(sentence(usage_error("it is wrong", "do it right")) == "it is wrong. Do it right.");
  CHECK(sentence(usage_error("it is wrong", "did you mean it?")) == "it is wrong. Did you mean it?");
  CHECK(sentence(usage_error("no", "--period is one")) == "no. --period is one.");
  CHECK(sentence(broken("it broke.")) == "it broke.");
}

}  // namespace
}  // namespace howlate
