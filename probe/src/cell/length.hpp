// How long a cell takes, and how much it writes, as far as its options tell: for `howlate-probe plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/params.hpp"
#include "loads/load.hpp"
#include "tests/test.hpp"

namespace howlate {

struct CellLength {
  double seconds = 0;  // of measuring
  std::optional<std::int64_t>
      rows;          // activations or points after which each thread ends; none: its duration ends it
  double bytes = 0;  // of the stream, roughly and at most
  double warm_up_seconds = 0;  // before the measuring
  double most_seconds = 0;     // after which its duration ends it; 0: nothing but its rows does
  Turn turn;                   // of a row, in virtual time
};

CellLength length_of(const Test& test, const Params& params);

// A load that does too little within a cell for the cell to count as loaded.
struct FewActions {
  std::string spec;
  LoadAction action;
  std::int64_t many = 0;  // that fit into the cell
  double supposed_ns =
      0;  // where neither its target nor its kind fixes the rate: what one is supposed to take
};
std::vector<FewActions> few_actions(const std::vector<std::string>& specs,
                                    const std::vector<int>& measuring_cpus, double seconds);

}  // namespace howlate
