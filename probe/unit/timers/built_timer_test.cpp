// A timer of a core that the probe was built without is not possible here; a name that no probe knows is misspelt.
#include <doctest/doctest.h>

#include <string>

#include "core/text.hpp"
#include "timers/timer.hpp"

namespace howlate {
namespace {

void refused_without(std::string_view name, const std::string& core, const std::string& option) {
  CAPTURE(std::string(name));
  const auto found = find_built_timer(name);
  if (find_timer(name)) {  // this build has the core's library
    CHECK((*found)->name == name);
    return;
  }
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().code == ExitCode::not_possible);
  CHECK(found.error().message ==
        "the timer " + in_quotes(name) + " is " + core + "'s, and this probe was built without it");
  CHECK(found.error().remedy.find("./dev probe " + option) != std::string::npos);
}

TEST_CASE("a timer of a core that the probe was built without is not possible here") {
  refused_without("cobalt", "Cobalt", "--with-cobalt");
  refused_without("cobalt-kernel-task", "Cobalt", "--with-cobalt");
  refused_without("alchemy", "Cobalt", "--with-cobalt");
  refused_without("evl", "EVL", "--with-evl");
  refused_without("evl-sleep", "EVL", "--with-evl");
}

TEST_CASE("a name that only begins like a core's is misspelt") {
  for (const char* name : {"cobaltx", "alchemist", "evlx", "xcobalt"}) {
    CAPTURE(std::string(name));
    const auto found = find_built_timer(name);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().code == ExitCode::usage);
  }
  CHECK((*find_built_timer("clock_nanosleep"))->name == "clock_nanosleep");
}

}  // namespace
}  // namespace howlate
