#include "core/help.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

constexpr ParamSpec table[] = {
    {"period", ParamType::duration, "1ms", "ns", "", "distance between two releases"},
    {"late-policy", ParamType::choice, "skip", "", "skip|backlog", "what follows a late activation"},
    {"load", ParamType::text, "", "", "", "start this load first", true},
};

TEST_CASE("help is made from the table, names every option, and ends with the example") {
  const std::string text = help_text({"howlate-probe cyclic [options]",
                                      "Wake-up latency.",
                                      "",
                                      {{"Options", table}, {"Nothing", {}}},
                                      "howlate-probe cyclic --period 250us"});
  CHECK(text.starts_with("usage: howlate-probe cyclic [options]\n\nWake-up latency.\n"));
  for (const ParamSpec& spec : table) CHECK(text.find("--" + std::string(spec.name)) != std::string::npos);
  CHECK(text.find("[1ms]") != std::string::npos);
  CHECK(text.find("skip|backlog") != std::string::npos);
  CHECK(text.find("may be repeated") != std::string::npos);
  CHECK(text.find("Nothing") == std::string::npos);
  CHECK(text.ends_with("Example\n  howlate-probe cyclic --period 250us\n"));
}

TEST_CASE("help is asked for by a word of its own") {
  CHECK(asks_for_help({"--help"}));
  CHECK(asks_for_help({"--period", "1ms", "-h"}));
  CHECK_FALSE(asks_for_help({"--stream=--help"}));
  CHECK_FALSE(asks_for_help({"--", "--help"}));
  CHECK_FALSE(asks_for_help({}));
}

TEST_CASE("a parameter is listed with all that the host needs") {
  JsonWriter json;
  write_param(json, table[1]);
  CHECK(
      json.take() ==
      R"({"name": "late-policy", "type": "choice", "default": "skip", "unit": "", )"
      R"("choices": ["skip", "backlog"], "help": "what follows a late activation", "repeated": false, "scales": false})");
}

}  // namespace
}  // namespace howlate
