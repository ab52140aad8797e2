// The interface of a latency test. ONE FILE in this folder = ONE LATENCY TEST.
//
// A file `tests/cyclic.cpp` defines `extern const Test test_cyclic;`; the build lists the folder and generates the table.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/params.hpp"
#include "core/result.hpp"
#include "core/stream.hpp"
#include "sys/need.hpp"

namespace howlate {

class Cell;  // cell/cell.hpp: parameters, loads, stream, stop request of one cell

// One turn of a test in a guest whose instructions take 1 ns, in ns: what passes by the clock, and what the CPU executes.
struct Turn {
  double waits_ns = 0;
  double executes_ns = 0;
};

struct Test {
  std::string_view name;                // "cyclic"
  std::string_view summary;             // one line
  std::span<const ParamSpec> params;    // its own; the common ones (load, stream, json ...) are cell/params
  std::span<const ColumnSpec> columns;  // of its table "samples"
  std::string_view needs;               // what it needs, as one sentence, or ""
  Result<ExitCode> (*run)(Cell& cell);
  std::string_view example = {};       // a whole command that ends its --help
  std::span<const Need> modules = {};  // of the kernel or of kmod/: the lab loads them
  std::span<const Need> devices = {};  // by QEMU's names: the lab's guests have them
  bool loads_alone = false;            // nothing is measured beside its loads
  // How long an activation or a data point takes with these options, roughly. The host tells from it when a cell will be over.
  double (*turn_ns)(const Params& params) = nullptr;
  // The same in virtual time, where nothing is late; none: turn_ns by the clock.
  Turn (*turn_in_guest)(const Params& params) = nullptr;
  // More modules, those of the plug-ins it uses. Asked for, and not a table: a table of what other files hold would be made while the
  // program starts, perhaps before theirs.
  std::vector<Need> (*modules_of_plugins)() = nullptr;
};

// From the first activation or point to t0: while caches, timers and loads settle, nothing is kept.
inline constexpr ParamSpec warm_up_param = {
    "warm-up", ParamType::duration,
    "100ms",   "ns",
    "",        "measure for so long first, which is counted and is in no sample"};

// What the tests need that fall back to SCHED_OTHER.
inline constexpr std::string_view needs_fifo_or_rr =
    "for fifo and rr the right to real-time scheduling (CAP_SYS_NICE or ulimit -r); without "
    "it the test measures as other";

std::span<const Test* const> tests();
Result<const Test*> find_test(std::string_view name);

}  // namespace howlate
