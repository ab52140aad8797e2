// What a latency test is to the rest of the probe. ONE FILE in this folder = ONE LATENCY TEST.
//
// A file `tests/cyclic.cpp` defines `extern const Test test_cyclic;`; the build lists the folder and generates the table.
#pragma once

#include <span>
#include <string_view>

#include "core/params.hpp"
#include "core/result.hpp"
#include "core/stream.hpp"

namespace howlate {

class Cell;  // cell/cell.hpp: parameters, loads, stream, stop request of one cell

struct Test {
  std::string_view name;                // "cyclic"
  std::string_view summary;             // one line
  std::span<const ParamSpec> params;    // its own; the common ones (load, stream, json ...) are cell/params
  std::span<const ColumnSpec> columns;  // of its table "samples"
  std::string_view needs;               // what it needs, as one sentence, or ""
  Result<ExitCode> (*run)(Cell& cell);
  std::string_view example = {};  // a whole command that ends its --help
  std::span<const std::string_view> modules =
      {};  // of the kernel or of kmod/, which it can use: the lab loads them
};

std::span<const Test* const> tests();
Result<const Test*> find_test(std::string_view name);

}  // namespace howlate
