#include "core/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/json_read.hpp"
#include "core/random.hpp"

namespace howlate {
namespace {

TEST_CASE("objects, arrays and values are written with their commas") {
  JsonWriter json;
  json.begin_object().member("a", 1).key("b").begin_array().value(true).null().value("x").end_array();
  json.key("c").begin_object().end_object().member_raw("d", "[1]").member("e", -1.5).end_object();
  CHECK(json.take() == R"({"a": 1, "b": [true, null, "x"], "c": {}, "d": [1], "e": -1.5})");
  CHECK(json.begin_array().end_array().take() == "[]");
}

TEST_CASE("integers keep all their digits") {
  JsonWriter json;
  json.begin_array().value(INT64_MIN).value(INT64_MAX).value(UINT64_MAX).value(std::uint8_t{7}).end_array();
  CHECK(json.take() == "[-9223372036854775808, 9223372036854775807, 18446744073709551615, 7]");
}

TEST_CASE("doubles come back as they were, and what is not finite is null") {
  JsonWriter json;
  json.begin_array().value(0.1).value(5.0).value(1e300).value(std::nan("")).value(HUGE_VAL).end_array();
  CHECK(json.take() == "[0.1, 5.0, 1e+300, null, null]");
  SplitMix random(1);
  for (int turn = 0; turn < 2000; ++turn) {
    const double number =
        std::ldexp(static_cast<double>(random.next()), static_cast<int>(random.below(600)) - 300);
    CHECK(std::stod(json.value(number).take()) == number);
  }
}

TEST_CASE("strings are escaped, and bytes that are not UTF-8 are replaced") {
  CHECK(json_string("a\"\\\n\t\x01\x7f/") == R"("a\"\\\n\t\u0001\u007f/")");
  CHECK(json_string("µs €\xf0\x9f\x98\x80") == "\"µs €\xf0\x9f\x98\x80\"");
  const std::string bad = "\xef\xbf\xbd";
  CHECK(json_string("\xff") == "\"" + bad + "\"");
  CHECK(json_string("\xc0\xaf") == "\"" + bad + bad + "\"");            // overlong
  CHECK(json_string("\xed\xa0\x80") == "\"" + bad + bad + bad + "\"");  // a surrogate
  CHECK(json_string("a\xe2\x82") == "\"a" + bad + bad + "\"");          // cut
}

TEST_CASE("what the writer writes, the reader reads") {
  JsonWriter json;
  json.begin_object()
      .member("text", "a\"\\\n\x01€")
      .member("n", INT64_MIN)
      .member("x", 0.5)
      .key("list")
      .begin_array();
  json.value(false).null().end_array().end_object();
  const Result<JsonValue> value = JsonValue::parse(json.take());
  REQUIRE(value.ok());
  CHECK(value->find("text")->text() == "a\"\\\n\x01€");
  CHECK(value->find("n")->integer() == INT64_MIN);
  CHECK(value->find("x")->text() == "0.5");
  CHECK_FALSE(value->find("x")->integer().has_value());
  CHECK(value->find("list")->items().size() == 2);
  CHECK(value->find("nothing") == nullptr);
}

TEST_CASE("the reader takes JSON and nothing else") {
  for (const char* text : {"{}", "[]", " [1, 2] ", "\"\\u00e9\\ud83d\\ude00\"", "-0", "1.5e-3", "true",
                           "{\"a\":{\"b\":[null]}}"}) {
    CAPTURE(text);
    CHECK(JsonValue::parse(text).ok());
  }
  for (const char* text :
       {"",      " ",   "{",        "[1,]", "{\"a\"}", "{\"a\":1,}",  "01",          "1.",
        ".5",    "+1",  "nul",      "\"",   "\"\\x\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\u12g4\"",
        "[1] 2", "'a'", "\"a\nb\"", "{a:1}"}) {
    CAPTURE(text);
    CHECK_FALSE(JsonValue::parse(text).ok());
  }
  CHECK_FALSE(JsonValue::parse(std::string(100'000, '[')).ok());
  CHECK(JsonValue::parse("\"\\u00e9\\ud83d\\ude00\"").value().text() == "\xc3\xa9\xf0\x9f\x98\x80");
}

}  // namespace
}  // namespace howlate
