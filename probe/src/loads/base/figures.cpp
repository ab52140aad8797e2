#include "loads/base/figures.hpp"

#include <string>

namespace howlate {

std::int64_t figure(const WorkerSlot& slot, std::size_t at) {
  return slot.figures[at].load(std::memory_order_acquire);
}

void put_figure(WorkerSlot& slot, std::size_t at, std::int64_t value) {
  slot.figures[at].store(value, std::memory_order_release);
}

void add_figure(WorkerSlot& slot, std::size_t at, std::int64_t many) {
  put_figure(slot, at, figure(slot, at) + many);
}

void add_time(WorkerSlot& slot, const Times& where, std::int64_t took_ns) {
  const bool first = figure(slot, where.count) == 0;
  add_figure(slot, where.sum_ns, took_ns);
  put_figure(slot, where.min_ns, first ? took_ns : std::min(figure(slot, where.min_ns), took_ns));
  put_figure(slot, where.max_ns, std::max(figure(slot, where.max_ns), took_ns));
  add_figure(slot, where.count, 1);
}

void tell_times(JsonWriter& json, std::string_view name, const WorkerSlot& slot, const Times& where) {
  const std::string lead(name);
  const std::int64_t count = figure(slot, where.count);
  if (count == 0) {
    for (const char* end : {"_mean", "_min", "_max"}) json.key(lead + end).null();
    return;
  }
  json.member(lead + "_mean", static_cast<double>(figure(slot, where.sum_ns)) / static_cast<double>(count));
  json.member(lead + "_min", figure(slot, where.min_ns)).member(lead + "_max", figure(slot, where.max_ns));
}

}  // namespace howlate
