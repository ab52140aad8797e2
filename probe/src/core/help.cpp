#include "core/help.hpp"

#include "core/called.hpp"
#include "core/text.hpp"

namespace howlate {

namespace {

constexpr std::size_t option_width = 30;
constexpr std::size_t line_width = 100;

// What stands for the value: "DURATION", or the choices themselves where they are few.
std::string value_word(const ParamSpec& spec) {
  switch (spec.type) {
    case ParamType::flag:
      return "";
    case ParamType::count:
    case ParamType::integer:
      return "N";
    case ParamType::real:
      return "X";
    case ParamType::duration:
      return "TIME";
    case ParamType::bytes:
      return "SIZE";
    case ParamType::rate:
      return "RATE";
    case ParamType::percent:
      return "PERCENT";
    case ParamType::cpus:
      return "CPUS";
    case ParamType::choice:
      return spec.choices.size() <= 24 ? std::string(spec.choices) : "WORD";
    case ParamType::text:
      return "TEXT";
  }
  return "";
}

std::string explanation(const ParamSpec& spec) {
  std::string text(spec.help);
  if (spec.type == ParamType::choice && spec.choices.size() > 24)
    text += " (" + join(split(spec.choices, '|'), ", ") + ")";
  if (spec.repeated) text += "; may be repeated";
  if (!spec.fallback.empty() && spec.type != ParamType::flag) text += " [" + std::string(spec.fallback) + "]";
  if (spec.type == ParamType::flag && spec.fallback == "true")
    text += " [on; --" + std::string(spec.name) + "=false]";
  return text;
}

// Words of `text` in lines of at most line_width, each after the first indented to the column of the
// explanations.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = option_width;
  for (const std::string_view word : split(text, ' ')) {
    if (column + word.size() + 1 > line_width && column > option_width) {
      out += "\n" + std::string(option_width, ' ');
      column = option_width;
    } else if (column > option_width) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string option_line(const ParamSpec& spec) {
  std::string line = "  --" + std::string(spec.name);
  const std::string word = value_word(spec);
  if (!word.empty()) line += " " + word;
  if (line.size() + 2 > option_width) {
    line += "\n" + std::string(option_width, ' ');
  } else {
    line.resize(option_width, ' ');
  }
  return line + wrapped(explanation(spec)) + "\n";
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& argv) {
  for (const std::string& word : argv) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

std::string help_text(const HelpPage& page) {
  std::string out = "usage: " + page.usage + "\n\n" + page.summary + "\n";
  if (!page.notes.empty()) out += page.notes + "\n";
  for (const HelpSection& section : page.sections) {
    if (section.params.empty()) continue;
    out += "\n" + std::string(section.title) + "\n";
    for (const ParamSpec& spec : section.params) out += option_line(spec);
  }
  return as_called(out + "\nExample\n  " + page.example + "\n");
}

std::string_view param_type_name(ParamType type) {
  switch (type) {
    case ParamType::flag:
      return "flag";
    case ParamType::count:
      return "count";
    case ParamType::integer:
      return "integer";
    case ParamType::real:
      return "real";
    case ParamType::duration:
      return "duration";
    case ParamType::bytes:
      return "bytes";
    case ParamType::rate:
      return "rate";
    case ParamType::percent:
      return "percent";
    case ParamType::cpus:
      return "cpus";
    case ParamType::choice:
      return "choice";
    case ParamType::text:
      return "text";
  }
  return "";
}

void write_param(JsonWriter& json, const ParamSpec& spec) {
  json.begin_object().member("name", spec.name).member("type", param_type_name(spec.type));
  json.member("default", spec.fallback).member("unit", spec.unit).key("choices").begin_array();
  for (const std::string_view choice : split(spec.choices, '|')) json.value(choice);
  json.end_array().member("help", spec.help).member("repeated", spec.repeated);
  json.member("scales", spec.scales).end_object();
}

void write_params(JsonWriter& json, std::span<const ParamSpec> specs) {
  json.begin_array();
  for (const ParamSpec& spec : specs) write_param(json, spec);
  json.end_array();
}

}  // namespace howlate
