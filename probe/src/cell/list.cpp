#include "cell/list.hpp"

#include <cstdio>

#include "cell/document_parts.hpp"
#include "cell/run.hpp"
#include "core/called.hpp"
#include "core/help.hpp"
#include "core/json.hpp"
#include "core/sample.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "inject/injection.hpp"
#include "knobs/knob.hpp"
#include "switches/switch.hpp"
#include "sys/standard.hpp"
#include "timers/timer.hpp"

namespace howlate {

namespace {

void write_available(JsonWriter& json, const Status& status) {
  json.member("available", status.ok())
      .member("reason", status.ok() ? std::string() : sentence(status.error()));
}

void write_needs(JsonWriter& json, std::string_view kind, std::span<const Need> needs) {
  json.key(kind).begin_array();
  for (const Need& need : needs)
    json.begin_object()
        .member("name", need.name)
        .member("option", need.option)
        .member("value", need.value)
        .member("parameters", need.parameters)
        .end_object();
  json.end_array();
}

std::vector<Need> modules_of(const Test& test) {
  std::vector<Need> modules(test.modules.begin(), test.modules.end());
  if (test.modules_of_plugins == nullptr) return modules;
  const std::vector<Need> more = test.modules_of_plugins();
  modules.insert(modules.end(), more.begin(), more.end());
  return modules;
}

void write_test(JsonWriter& json, const Test& test) {
  json.begin_object().member("name", test.name).member("summary", test.summary).member("needs", test.needs);
  json.key("params");
  write_params(json, test.params);
  write_table_columns(json, test.columns);
  write_needs(json, "modules", modules_of(test));
  write_needs(json, "devices", test.devices);
  json.end_object();
}

void write_timer(JsonWriter& json, const Timer& timer) {
  json.begin_object().member("name", timer.name).member("summary", timer.summary);
  json.member("dither", timer.armed_each_activation).key("late_policies").begin_array();
  for (const std::string_view policy : late_policies(timer)) json.value(policy);
  json.end_array().member("windows", timer.windows);
  if (!timer.core.empty()) json.member("core", timer.core).member("in_kernel", timer.in_kernel);
  write_available(json, timer.available());
  write_needs(json, "config", timer.config);
  json.end_object();
}

void write_switch(JsonWriter& json, const Switch& one) {
  json.begin_object().member("name", one.name).member("summary", one.summary).member("one_cpu", one.one_cpu);
  write_available(json, one.available());
  write_needs(json, "config", one.config);
  json.end_object();
}

void write_injection(JsonWriter& json, const Injection& one) {
  json.begin_object().member("name", one.name).member("summary", one.summary).member("in_work", one.in_work);
  json.member("module", one.module);
  write_available(json, one.available(Root()));
  json.end_object();
}

void write_load(JsonWriter& json, const Load& load) {
  json.begin_object().member("name", load.name).member("summary", load.summary).member("unit", load.unit);
  json.key("target");
  write_param(json, load.target);
  json.key("params");
  write_params(json, load.params);
  const LoadAction& action = load.action;
  json.member("held", load.held).key("alone").begin_array();
  for (const std::string_view word : split(load.alone, '|')) json.value(word);
  json.end_array().member("alone_ns", load.alone_ns);
  json.key("deed").begin_object().member("name", action.name).member("wanted", action.wanted);
  json.member("length_ns", action.length_ns)
      .member("units", action.units)
      .member("sleeping", action.sleeping);
  json.end_object();
  write_needs(json, "modules", load.modules);
  write_needs(json, "config", load.config);
  write_needs(json, "devices", load.devices);
  write_needs(json, "disks", load.disks);
  json.end_object();
}

void write_knob(JsonWriter& json, const Knob& knob) {
  json.begin_object().member("name", knob.name).member("summary", knob.summary).member("values", knob.values);
  write_available(json, knob.available());
  json.end_object();
}

template <class Table, class Write>
void write_table(JsonWriter& json, std::string_view name, Table table, Write write) {
  json.key(name).begin_array();
  for (const auto* one : table) write(json, *one);
  json.end_array();
}

std::string line(std::string_view name, std::string_view summary) {
  std::string text = "  " + std::string(name);
  text.resize(text.size() < 28 ? 28 : text.size() + 2, ' ');
  return text + std::string(summary) + "\n";
}

template <class Table>
std::string lines(std::string_view title, Table table) {
  std::string text = std::string(title) + "\n";
  for (const auto* one : table) {
    std::string summary(one->summary);
    if constexpr (requires { one->available(); }) {
      if (const Status status = one->available(); !status)
        summary += " (not here: " + status.error().message + ")";
    }
    text += line(one->name, summary);
  }
  if (table.empty()) text += "  (none in this build)\n";
  return text;
}

std::string list_text() {
  return lines("Tests", tests()) + "\n" + lines("Ways to sleep (--timer)", timers()) + "\n" +
         lines("Ways to hand over (switch --by)", switches()) + "\n" + lines("Loads (--load)", loads()) +
         "\n" + lines("Knobs (--knob)", knobs()) + "\n" +
         lines("Delays of known size (cyclic --inject)", injections());
}

constexpr ParamSpec list_params[] = {{"json", ParamType::flag, "", "", "", "as JSON, with all parameters"}};

}  // namespace

std::string list_json() {
  JsonWriter json;
  json.begin_object().member("probe", version());
  write_table(json, "tests", tests(), write_test);
  write_table(json, "timers", timers(), write_timer);
  write_table(json, "switches", switches(), write_switch);
  write_table(json, "loads", loads(), write_load);
  write_table(json, "knobs", knobs(), write_knob);
  write_table(json, "injections", injections(), write_injection);
  json.key("common");
  write_params(json, common_params());
  json.key("load_common");
  write_params(json, load_common_params());
  json.key("row_flags").begin_object();
  json.member("warm_up", std::uint64_t{row_warm_up}).member("switched_out", std::uint64_t{row_switched_out});
  json.end_object().end_object();
  return json.take();
}

ExitCode list_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    const std::string page = help_text({"howlate-probe list [--json]",
                                        "Tests, ways to sleep, loads and knobs of this probe.",
                                        "",
                                        {{"Options", list_params}},
                                        "howlate-probe list --json"});
    std::fputs(page.c_str(), stdout);
    return ExitCode::done;
  }
  const Result<Params> params = Params::parse({list_params}, argv);
  if (!params) return complain(params.error());
  const std::string text = params->flag("json") ? list_json() + "\n" : list_text();
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

std::string test_help(const Test& test) {
  const std::string command = "howlate-probe " + std::string(test.name);
  return help_text({command + " [options]",
                    std::string(test.summary),
                    test.needs.empty() ? "" : "Needs: " + std::string(test.needs),
                    {{"Options", test.params}, {"Options of every test", common_params()}},
                    test.example.empty() ? command : std::string(test.example)});
}

std::string load_help(const Load& load) {
  const std::string command = "howlate-probe load " + std::string(load.name);
  const std::string notes = load.target.name.empty()
                                ? ""
                                : "TARGET (" + std::string(param_type_name(load.target.type)) +
                                      "): " + std::string(load.target.help);
  const std::string with_target =
      load.target.fallback.empty() ? command : command + ":" + std::string(load.target.fallback);
  return help_text({command + (load.target.name.empty() ? "" : "[:TARGET]") + " [options]",
                    std::string(load.summary),
                    notes,
                    {{"Options", load.params}, {"Options of every load", load_common_params()}},
                    load.example.empty() ? with_target + " --duration 10s" : std::string(load.example)});
}

std::string probe_help() {
  return as_called(
      "usage: howlate-probe <test> [options]\n"
      "       howlate-probe load <NAME[:TARGET]> [options]\n"
      "       howlate-probe list [--json] | plan [COMMAND ...] | facts [--json] | check-stream FILE\n"
      "       howlate-probe job FILE --out DIR [--limit TIME]\n"
      "       howlate-probe hold --knob NAME=VALUE | restore | --version | --help\n\n"
      "Measures how late this machine answers. Each test and load has its own --help.\n\n" +
      lines("Tests", tests()) + "\n" + lines("Loads", loads()) +
      "\nExample\n  howlate-probe cyclic --period 1ms --activations 10000 --load cpu:50\n");
}

}  // namespace howlate
