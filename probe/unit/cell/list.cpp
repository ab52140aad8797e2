#include "cell/list.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "cell/run.hpp"
#include "core/json_read.hpp"
#include "core/params.hpp"
#include "core/text.hpp"
#include "timers/timer.hpp"

namespace howlate {
namespace {

TEST_CASE("list --json is JSON with every test, timer and load of the tables") {
  const Result<JsonValue> list = JsonValue::parse(list_json());
  REQUIRE(list.ok());
  CHECK(list->find("tests")->items().size() == tests().size());
  CHECK(list->find("timers")->items().size() == timers().size());
  CHECK(list->find("loads")->items().size() == loads().size());
  for (std::size_t index = 0; index < timers().size(); ++index) {
    const JsonValue& timer = list->find("timers")->items()[index];
    CHECK(timer.find("name")->text() == timers()[index]->name);
    CHECK((timer.find("available")->truth() || !timer.find("reason")->text().empty()));
  }
}

TEST_CASE(
    "every table of parameters agrees with itself, its defaults can be read, and no name stands twice") {
  for (const Test* test : tests()) {
    const auto params = Params::parse({test->params, common_params()}, {});
    CAPTURE(std::string(test->name));
    CHECK_MESSAGE(params.ok(), (params.ok() ? "" : params.error().message));
    CHECK(test_help(*test).find("\nExample\n  howlate-probe ") != std::string::npos);
    const auto words = split(test->example, ' ');
    REQUIRE(words.size() >= 2);
    CHECK(words[1] == test->name);
    const auto example = Params::parse({test->params, common_params()}, {words.begin() + 2, words.end()});
    CHECK_MESSAGE(example.ok(), (example.ok() ? "" : example.error().message));
  }
  for (const Load* load : loads()) {
    const auto params = Params::parse({std::span(&load->target, 1), load->params, load_common_params()}, {});
    CAPTURE(std::string(load->name));
    CHECK_MESSAGE(params.ok(), (params.ok() ? "" : params.error().message));
    CHECK(load_help(*load).find("\nExample\n  howlate-probe load ") != std::string::npos);
  }
}

TEST_CASE("names are found as they are spelt, and a wrong one is told the nearest") {
  std::set<std::string_view> seen;
  for (const Timer* timer : timers()) {
    CHECK(seen.insert(timer->name).second);
    CHECK(find_timer(timer->name).value() == timer);
    const std::string wrong = std::string(timer->name) + "x";
    const auto found = find_timer(wrong);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().remedy == suggestion(timer->name));
  }
}

}  // namespace
}  // namespace howlate
