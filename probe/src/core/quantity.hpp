// Parses the quantities of a command line: the remaining functions that params.hpp declares.
#pragma once

#include "core/params.hpp"

namespace howlate {

Result<std::int64_t> parse_integer(std::string_view text);
Result<double> parse_real(std::string_view text);
Result<double> parse_percent(std::string_view text);

}  // namespace howlate
