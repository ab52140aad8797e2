#include "cell/plan.hpp"

#include <cstdio>

#include "cell/run.hpp"
#include "core/help.hpp"
#include "core/json.hpp"
#include "core/json_read.hpp"
#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/memory.hpp"
#include "sys/standard.hpp"

namespace howlate {

namespace {

Result<std::vector<std::string>> read_words(std::string_view command) {
  const auto value = JsonValue::parse(command);
  const Error wrong = usage_error("a command to plan is not a JSON array of words",
                                  "Write each like [\"cyclic\",\"--period=1ms\"]");
  if (!value || value->kind() != JsonValue::Kind::array || value->items().empty()) return wrong;
  std::vector<std::string> words;
  for (const JsonValue& word : value->items()) {
    if (word.kind() != JsonValue::Kind::string) return wrong;
    words.emplace_back(word.text());
  }
  return words;
}

Checked check(std::string_view command) {
  const auto words = read_words(command);
  if (!words) return {words.error(), {}};
  const auto test = find_test(words->front());
  if (!test) return {test.error(), {}};
  return check_test(**test, {words->begin() + 1, words->end()});
}

}  // namespace

std::string plan_line(std::string_view command) {
  const Checked checked = check(command);
  JsonWriter json;
  json.begin_object().member("ok", !checked.refusal.has_value());
  if (checked.refusal)
    json.member("exit_code", static_cast<int>(checked.refusal->code))
        .member("message", checked.refusal->message)
        .member("remedy", checked.refusal->remedy);
  json.key("warnings").begin_array();
  for (const std::string& warning : checked.warnings) json.value(warning);
  return json.end_array().end_object().take();
}

ExitCode plan_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    const std::string page = help_text(
        {"howlate-probe plan [COMMAND ...]",
         "Says of each command whether this machine would refuse it, and why; measures nothing.",
         "A command is a JSON array of words; without any on the command line they are read from "
         "standard input,\none a line. Each gets a line of JSON: ok, or exit_code, message and remedy; "
         "and the warnings.",
         {},
         "echo '[\"cyclic\",\"--period=1us\"]' | howlate-probe plan"});
    std::fputs(page.c_str(), stdout);
    return ExitCode::done;
  }
  keep_heap_together();
  const Result<Params> params = Params::parse({}, argv, argv.size());
  if (!params) return complain(params.error());
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
