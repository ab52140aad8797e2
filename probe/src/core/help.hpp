// `--help` made from the tables of parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/params.hpp"

namespace howlate {

struct HelpSection {
  std::string_view title;  // "Options", "Options of every test"
  std::span<const ParamSpec> params;
};

struct HelpPage {
  std::string usage;    // "howlate-probe cyclic [options]"
  std::string summary;  // one line
  std::string notes;    // further lines, or ""
  std::vector<HelpSection> sections;
  std::string example;  // a whole command
};

// Is `--help` or `-h` among the words?
bool asks_for_help(const std::vector<std::string>& argv);
std::string help_text(const HelpPage& page);

std::string_view param_type_name(ParamType type);
// PARAM of `list --json` (docs/probe.md).
void write_param(JsonWriter& json, const ParamSpec& spec);
void write_params(JsonWriter& json, std::span<const ParamSpec> specs);  // an array of them

}  // namespace howlate
