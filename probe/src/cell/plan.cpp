#include "cell/plan.hpp"

#include <cstdio>
#include <numeric>

#include "cell/loads.hpp"
#include "cell/run.hpp"
#include "core/help.hpp"
#include "core/json.hpp"
#include "core/json_read.hpp"
#include "core/params.hpp"
#include "core/text.hpp"
#include "loads/base/request.hpp"
#include "sys/elsewhere.hpp"
#include "sys/memory.hpp"
#include "sys/standard.hpp"

namespace howlate {

namespace {

constexpr ParamSpec plan_params[] = {
    {"elsewhere", ParamType::flag, "", "", "",
     "plan for another machine: refuse nothing because this machine lacks it"},
    {"cpus", ParamType::text, "", "", "",
     "with --elsewhere, the CPUs of that machine; without it any CPU is there"},
};
constexpr std::size_t cpus_any = 8192;  // more than any Linux is built for

Result<std::vector<std::string>> read_words(std::string_view command) {
  const auto value = JsonValue::parse(command);
  const Error wrong = usage_error("a command to plan is not a JSON array of words",
                                  "Write each like [\"cyclic\",\"--period=1ms\"]");
  if (!value || value->kind() != JsonValue::JsonKind::array || value->items().empty()) return wrong;
  std::vector<std::string> words;
  for (const JsonValue& word : value->items()) {
    if (word.kind() != JsonValue::JsonKind::string) return wrong;
    words.emplace_back(word.text());
  }
  return words;
}

// A load by itself: its words alone.
Planned plan_load(const std::vector<std::string>& argv) {
  const auto request = read_load_words(argv);
  if (!request) return request.error();
  Planned planned;
  planned.options = request->params.given_json();
  return planned;
}

Planned plan(std::string_view command) {
  const auto words = read_words(command);
  if (!words) return words.error();
  const std::vector<std::string> argv(words->begin() + 1, words->end());
  if (words->front() == "load") return plan_load(argv);
  const auto test = find_test(words->front());
  if (!test) return test.error();
  return plan_test(**test, argv);
}

double seconds(std::int64_t time_ns) {
  return static_cast<double>(time_ns) / 1e9;
}

void write_few_actions(JsonWriter& json, const std::vector<FewActions>& few) {
  json.key("few_deeds").begin_array();
  for (const FewActions& one : few)
    json.begin_object()
        .member("load", one.spec)
        .member("name", one.action.name)
        .member("many", one.many)
        .member("wanted", one.action.wanted)
        .member("supposed_s", one.supposed_ns / 1e9)
        .end_object();
  json.end_array();
}

void write_length(JsonWriter& json, const Planned& planned) {
  json.member_raw("options", planned.options).member("seconds", planned.length.seconds);
  json.member("rows", planned.length.rows.value_or(0)).member("bytes", planned.length.bytes);
  json.member("warm_up_s", planned.length.warm_up_seconds).member("most_s", planned.length.most_seconds);
  const Turn& turn = planned.length.turn;
  json.key("turn")
      .begin_object()
      .member("waits_ns", turn.waits_ns)
      .member("executes_ns", turn.executes_ns)
      .end_object();
  json.key("alone").begin_object().member("least_s", seconds(planned.alone_least_ns));
  json.member("most_s", planned.alone_least_ns == 0 ? 0.0 : seconds(LoadSet::alone_most_ns)).end_object();
  write_few_actions(json, planned.few_actions);
}

ExitCode say_page() {
  const std::string page =
      help_text({"howlate-probe plan [COMMAND ...] [options]",
                 "Says for each command whether this machine would refuse it and why, and how long it takes; "
                 "measures nothing.",
                 "A command is a JSON array of words; without any on the command line they are read from "
                 "standard input,\n"
                 "one a line. The answer to each is a line of JSON (docs/probe.md).",
                 {{"Options", plan_params}},
                 "echo '[\"cyclic\",\"--period=1us\"]' | howlate-probe plan"});
  std::fputs(page.c_str(), stdout);
  return ExitCode::done;
}

Status choose_machine(const Params& params) {
  if (params.is_set("cpus") && !params.flag("elsewhere"))
    return usage_error("--cpus are another machine's, and this one is planned for", "Give --elsewhere too");
  if (!params.flag("elsewhere")) return {};
  std::vector<int> cpus(cpus_any);
  std::iota(cpus.begin(), cpus.end(), 0);
  if (params.is_set("cpus")) {
    auto stated = parse_cpu_list(params.text("cpus"));
    if (!stated) return stated.error();
    cpus = std::move(*stated);
  }
  plan_elsewhere(std::move(cpus));
  return {};
}

}  // namespace

std::string plan_line(std::string_view command) {
  const Planned planned = plan(command);
  JsonWriter json;
  json.begin_object().member("ok", !planned.refusal.has_value());
  if (planned.refusal)
    json.member("exit_code", static_cast<int>(planned.refusal->code))
        .member("message", planned.refusal->message)
        .member("remedy", planned.refusal->remedy);
  if (!planned.options.empty()) write_length(json, planned);
  json.key("warnings").begin_array();
  for (const Warning& warning : planned.warnings) json.value(warning.text);
  return json.end_array().end_object().take();
}

ExitCode plan_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) return say_page();
  keep_heap_together();
  const Result<Params> params = Params::parse({plan_params}, argv, argv.size());
  if (!params) return complain(params.error());
  if (const Status chosen = choose_machine(*params); !chosen) return complain(chosen.error());
  for (const std::string& command : params->positionals()) std::printf("%s\n", plan_line(command).c_str());
  if (!params->positionals().empty()) return ExitCode::done;
  std::string line;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    std::printf("%s\n", plan_line(line).c_str());
    line.clear();
  }
  if (!line.empty()) std::printf("%s\n", plan_line(line).c_str());
  return ExitCode::done;
}

}  // namespace howlate
