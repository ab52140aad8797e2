// Reads one member of a load's line of JSON.
#pragma once

#include <string_view>

namespace howlate {

// The text of the value of `key` in the outermost object; empty if it is not there or the line is cut. The line is one that
// our JsonWriter wrote: this finds, it does not validate.
std::string_view json_member(std::string_view line, std::string_view key);

}  // namespace howlate
