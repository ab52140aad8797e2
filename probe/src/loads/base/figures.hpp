// Shared by loads with one worker: figures that the worker counts in its slot, the output of times among them, and a
// pace to keep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/json.hpp"
#include "loads/load.hpp"

namespace howlate {

// Figures of a slot, numbered by the load. Only the worker writes them; they can be read at any moment.
std::int64_t figure(const WorkerSlot& slot, std::size_t at);
void put_figure(WorkerSlot& slot, std::size_t at, std::int64_t value);
void add_figure(WorkerSlot& slot, std::size_t at, std::int64_t many);

// Where the figures of a series of times stand.
struct Times {
  std::size_t count, sum_ns, min_ns, max_ns;
};
// One more; the count is raised last.
void add_time(WorkerSlot& slot, const Times& where, std::int64_t took_ns);
// NAME_mean, NAME_min, NAME_max; null without any.
void tell_times(JsonWriter& json, std::string_view name, const WorkerSlot& slot, const Times& where);

// Turns `gap_ns` apart, kept over the life of the load: what was missed is made up for, a second of it at most.
class Pace {
 public:
  Pace(double gap_ns, std::int64_t start_ns) : gap_ns_(gap_ns), due_ns_(static_cast<double>(start_ns)) {}

  // When the next turn is due, now that one has been done.
  std::int64_t next_ns(std::int64_t now_ns) {
    due_ns_ = std::max(due_ns_ + gap_ns_, static_cast<double>(now_ns) - arrears_max_ns);
    return static_cast<std::int64_t>(due_ns_);
  }

  static constexpr double arrears_max_ns = 1e9;

 private:
  double gap_ns_;
  double due_ns_;
};

}  // namespace howlate
