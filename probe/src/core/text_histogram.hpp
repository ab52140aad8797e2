// A histogram for a terminal: at most 25 lines, logarithmic in value and in count, including every value.
#pragma once

#include <cstddef>
#include <string>

#include "core/histogram.hpp"

namespace howlate {

// Each row is a run of whole bins from the minimum's to the maximum's; a row that holds a single value still
// shows a mark. `unicode` draws with block characters, else with '#'. Ends with a newline; empty for an empty
// histogram.
std::string text_histogram(const Histogram& histogram, std::size_t width = 80, bool unicode = false);

}  // namespace howlate
