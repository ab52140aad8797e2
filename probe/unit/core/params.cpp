#include "core/params.hpp"

#include <doctest/doctest.h>

#include "core/quantity.hpp"
#include "core/text.hpp"

namespace howlate {
namespace {

constexpr ParamSpec param_table[] = {
    {"dither", ParamType::flag, "", "", "", "random gaps"},
    {"lock", ParamType::flag, "true", "", "", "lock the memory"},
    {"activations", ParamType::count, "", "1", "", "how many"},
    {"nice", ParamType::integer, "0", "1", "", "nice value"},
    {"share", ParamType::real, "0.5", "1", "", "a share"},
    {"period", ParamType::duration, "1ms", "ns", "", "distance between two releases"},
    {"size", ParamType::bytes, "4KiB", "B", "", "a size"},
    {"speed", ParamType::rate, "", "B/s", "", "a rate"},
    {"busy", ParamType::percent, "", "%", "", "a share in per cent"},
    {"cpus", ParamType::cpus, "all", "", "all|same|other", "where"},
    {"late-policy", ParamType::choice, "skip", "", "skip|backlog|as-published",
     "what follows a late activation"},
    {"stream", ParamType::text, "", "", "", "a file"},
    {"load", ParamType::text, "", "", "", "a load", true},
};

Result<Params> parse(const std::vector<std::string>& argv, std::size_t positionals = 0) {
  return Params::parse({param_table}, argv, positionals);
}

Error refused(const std::vector<std::string>& argv) {
  const Result<Params> params = parse(argv);
  REQUIRE_FALSE(params.ok());
  return params.error();
}

TEST_CASE("every type of parameter is read in both spellings") {
  const Result<Params> read =
      parse({"--dither", "--lock=false", "--activations", "100", "--nice", "-5", "--share=0.25",
             "--period=250us", "--size", "10MiB", "--speed=500kB/s", "--busy", "50%", "--cpus", "0-2,5",
             "--late-policy=backlog", "--stream=--odd name"});
  REQUIRE(read.ok());
  const Params& params = *read;
  CHECK(params.flag("dither"));
  CHECK_FALSE(params.flag("lock"));
  CHECK(params.integer("activations") == 100);
  CHECK(params.integer("nice") == -5);
  CHECK(params.real("share") == 0.25);
  CHECK(params.integer("period") == 250'000);
  CHECK(params.integer("size") == 10 * 1024 * 1024);
  CHECK(params.integer("speed") == 500'000);
  CHECK(params.real("busy") == 50);
  CHECK(params.text("cpus") == "0-2,5");
  CHECK(params.text("late-policy") == "backlog");
  CHECK(params.text("stream") == "--odd name");
}

TEST_CASE("defaults hold where nothing is given, and given() tells them apart") {
  const Result<Params> params = parse({});
  REQUIRE(params.ok());
  CHECK(params->flag("lock"));
  CHECK_FALSE(params->flag("dither"));
  CHECK(params->integer("period") == 1'000'000);
  CHECK(params->is_set("period"));
  CHECK_FALSE(params->given("period"));
  CHECK_FALSE(params->is_set("activations"));
  CHECK(params->text("stream").empty());
  CHECK(params->texts("load").empty());
}

TEST_CASE("a repeated option keeps all values in order, any other is refused the second time") {
  const Result<Params> params = parse({"--load", "cpu:50", "--load=disk:10MiB/s"});
  REQUIRE(params.ok());
  CHECK(params->texts("load") == std::vector<std::string>{"cpu:50", "disk:10MiB/s"});
  CHECK(refused({"--period", "1ms", "--period", "2ms"}).message == "--period is given twice");
}

TEST_CASE("an unknown option names the nearest") {
  const Error error = refused({"--perod", "1ms"});
  CHECK(error.code == ExitCode::usage);
  CHECK(error.message == "there is no option \"--perod\"");
  CHECK(error.remedy == "did you mean \"--period\"?");
  CHECK(refused({"--late_policy=skip"}).remedy == "did you mean \"--late-policy\"?");
  CHECK(refused({"-p", "1ms"}).code == ExitCode::usage);
  CHECK(refused({"--zzzzzzzz"}).remedy == "see --help for the options");
  CHECK(refused({"period", "1ms"}).remedy == "an option begins with two dashes: --period");
}

TEST_CASE("an option without its value is refused") {
  CHECK(refused({"--period"}).message == "--period needs a value");
  CHECK(refused({"--period", "--dither"}).message == "--period needs a value");
}

TEST_CASE("a wrong value is refused with the option's name and an example") {
  const Error no_unit = refused({"--period", "250"});
  CHECK(no_unit.code == ExitCode::usage);
  CHECK(no_unit.message == "--period: \"250\" is not a duration: it has no unit");
  CHECK(no_unit.remedy == "write it like 250us, 1ms or 2s");
  CHECK(parse({"--period", "87600h"})->integer("period") == duration_ns_max);
  CHECK(parse({"--period", "5m"})->integer("period") == 300'000'000'000);
  CHECK(parse({"--period", "2d"})->integer("period") == parse({"--period", "48h"})->integer("period"));
  CHECK(refused({"--period", "87601h"}).message == "--period: \"87601h\" is longer than ten years");
  CHECK(refused({"--period", "9223372036s"}).remedy == "give at most 87600h");
  CHECK(refused({"--late-policy", "skipp"}).remedy.starts_with("did you mean \"skip\"? Choose one of "));
  CHECK(refused({"--cpus", "3-1"}).message == "--cpus: the range \"3-1\" runs backwards");
  CHECK(refused({"--cpus", "0-"}).code == ExitCode::usage);
  CHECK(refused({"--busy", "101"}).code == ExitCode::usage);
  CHECK(refused({"--dither=maybe"}).code == ExitCode::usage);
  CHECK(refused({"--activations", "-1"}).code == ExitCode::usage);
  CHECK(refused({"--share", "nan"}).code == ExitCode::usage);
}

TEST_CASE("words are positionals up to their number, and after -- whatever they look like") {
  const Result<Params> params = parse({"cpu:50", "--dither", "--", "--period"}, 2);
  REQUIRE(params.ok());
  CHECK(params->positionals() == std::vector<std::string>{"cpu:50", "--period"});
  CHECK_FALSE(parse({"one", "two"}, 1).ok());
}

TEST_CASE("the same option in two tables is the programmer's error") {
  const Result<Params> params = Params::parse({param_table, param_table}, {});
  REQUIRE_FALSE(params.ok());
  CHECK(params.error().code == ExitCode::broken);
}

TEST_CASE("the values in force are JSON, spelt as on the command line") {
  static constexpr ParamSpec few[] = {{"period", ParamType::duration, "1ms", "ns", "", ""},
                                      {"dither", ParamType::flag, "", "", "", ""},
                                      {"stream", ParamType::text, "", "", "", ""},
                                      {"load", ParamType::text, "", "", "", "", true}};
  Result<Params> params = Params::parse({few}, {"--load", "cpu:50"});
  REQUIRE(params.ok());
  CHECK(params->to_json() == R"({"dither": false, "load": ["cpu:50"], "period": "1ms"})");
  params->put("period", "2ms");
  CHECK(params->to_json() == R"({"dither": false, "load": ["cpu:50"], "period": "2ms"})");
}

TEST_CASE("durations are read exactly or refused") {
  const auto ns = [](std::string_view text) { return parse_duration_ns(text).value(); };
  CHECK(ns("20us") == 20'000);
  CHECK(ns("1.5ms") == 1'500'000);
  CHECK(ns("0.000000001s") == 1);
  CHECK(ns("1.10us") == 1'100);
  CHECK(ns("2min") == 120'000'000'000);
  CHECK(ns("2m") == 120'000'000'000);
  CHECK(ns("1h") == 3'600'000'000'000);
  CHECK(ns("0") == 0);
  CHECK(ns("9223372036854775807ns") == INT64_MAX);
  for (const char* text :
       {"", "1", "ms", "1 ms", "-1ms", "1.ms", ".5ms", "1.5ns", "1w", "1MS", "1msx", "1e3us", "0x10us",
        "9223372036854775808ns", "340282366920938463463374607431768211457ns", "9223372037s",
        "99999999999999999999999999999999999999999999h", "9223372036.9s"}) {
    CAPTURE(text);
    const Result<std::int64_t> read = parse_duration_ns(text);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == ExitCode::usage);
    CHECK(read.error().remedy == "write it like 250us, 1ms or 2s");
  }
}

TEST_CASE("sizes and rates tell powers of two from powers of ten") {
  CHECK(parse_bytes("512").value() == 512);
  CHECK(parse_bytes("1GB").value() == 1'000'000'000);
  CHECK(parse_bytes("1.5GiB").value() == 1'610'612'736);
  CHECK_FALSE(parse_bytes("10M").ok());
  CHECK_FALSE(parse_bytes("9000000TiB").ok());
  CHECK(parse_rate("10MiB/s").value() == 10'485'760);
  CHECK_FALSE(parse_rate("10MiB").ok());
  CHECK_FALSE(parse_rate("/s").ok());
}

TEST_CASE("counts and integers keep within 64 bits") {
  CHECK(parse_count("9223372036854775807").value() == INT64_MAX);
  CHECK(parse_count("9223372036854775808").error().message ==
        "\"9223372036854775808\" is too large for 64 bits");
  CHECK(parse_integer("-9223372036854775808").value() == INT64_MIN);
  CHECK_FALSE(parse_count("").ok());
  CHECK_FALSE(parse_count("1.5").ok());
  CHECK_FALSE(parse_integer("+1").ok());
}

TEST_CASE("a list of CPUs is sorted, without repeats, and bounded") {
  CHECK(parse_cpu_list("5,0-2,1").value() == std::vector<int>{0, 1, 2, 5});
  CHECK(parse_cpu_list("all").value().empty());
  for (const char* text : {"", ",", "0,", "-1", "1-", "a", "0-99999999999", "8192", "1--2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_cpu_list(text).ok());
  }
}

}  // namespace
}  // namespace howlate
