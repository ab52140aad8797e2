// What a load must achieve to count as there, and whether it did: its own target, or, where it asks for as much as the
// machine gives, the same load with nothing measured beside it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.hpp"
#include "core/params.hpp"
#include "loads/load.hpp"

namespace howlate {

// A load below this share of what it is held against was not there. The host applies the same limit
// (statistics/load_reached.py).
inline constexpr double loaded_share_min = 0.5;

// One load's goal and how far it came, over one stretch of time.
struct Goal {
  std::string unit;  // "CPU" (a share of those given, 0 to 1), or the load's own a second: "B/s"; "" for none
  std::optional<double> target;  // in that unit; none where the load asks for as much as the machine gives
  // What it did with nothing measured beside it, together with the cell's other loads.
  std::optional<double> reference;
  double achieved = 0;
  std::string action;        // what `actions` counts: "fsyncs"
  std::int64_t actions = 0;  // in the same time
  std::int64_t duration_ns = 0;

  // What it is held against: the smaller of target and reference.
  [[nodiscard]] std::optional<double> expected() const;
  // achieved / expected; none if nothing is expected of it.
  [[nodiscard]] std::optional<double> share() const;
  // Why the cell was not under this load, a sentence without its end; "" if it was.
  [[nodiscard]] std::string not_loaded(std::string_view spec) const;
  void write(JsonWriter& json) const;
};

// Whether these parameters ask for as much as the machine gives.
bool asks_for_all(const Load& load, const Params& params);

// Unit, target and action; nothing achieved yet.
Goal goal_of(const Load& load, const Params& params);

// "33 %", "0.005 %".
std::string percent_text(double share);

}  // namespace howlate
