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

// How long a test of points takes for one of them, roughly: the sum of these terms, each `factor` by the values of its options (counts as
// they are, times in nanoseconds). From it the host tells when a cell will be over, and when something must be wrong.
struct PointTerm {
  double factor = 0;
  std::string_view option = {}, by = {};        // "": 1
  std::string_view where = {}, has_value = {};  // a term that holds only where an option has this value
};

class Cell;  // cell/cell.hpp: parameters, loads, stream, stop request of one cell

// Something beside the probe that a test can use: always, or where an option of it has this value.
struct Need {
  std::string_view name;
  std::string_view option = {};
  std::string_view value = {};
};

struct Test {
  std::string_view name;                // "cyclic"
  std::string_view summary;             // one line
  std::span<const ParamSpec> params;    // its own; the common ones (load, stream, json ...) are cell/params
  std::span<const ColumnSpec> columns;  // of its table "samples"
  std::string_view needs;               // what it needs, as one sentence, or ""
  Result<ExitCode> (*run)(Cell& cell);
  std::string_view example = {};             // a whole command that ends its --help
  std::span<const Need> modules = {};        // of the kernel or of kmod/: the lab loads them
  std::span<const Need> devices = {};        // by QEMU's names: the lab's guests have them
  std::span<const PointTerm> point_ns = {};  // of tests that end after a number of points
};

// What the tests need that fall back to SCHED_OTHER.
inline constexpr std::string_view needs_fifo_or_rr =
    "for fifo and rr the right to real-time scheduling (CAP_SYS_NICE or ulimit -r); it measures as other "
    "without";

std::span<const Test* const> tests();
Result<const Test*> find_test(std::string_view name);

}  // namespace howlate
