// The ring buffers of a trace instance, a CPU at a time, page by page and raw: what was recorded, at the least cost of reading it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/tick_times.hpp"
#include "sys/file.hpp"
#include "sys/trace_instance.hpp"

namespace howlate {

// Where pages come from.
class TracePages {
 public:
  virtual ~TracePages() = default;
  // Takes the oldest page out of a CPU's ring; false where the ring is empty.
  virtual bool read(int cpu, std::span<std::byte> page) = 0;
  // To be called again and again while events are recorded: where pages have times by the CPU's counter, it is read beside the clock.
  virtual void compare_clocks() {}
  // What makes times of the clock of those; nothing where pages have them already.
  [[nodiscard]] virtual const TickTimes* times() const { return nullptr; }
  // Whether there are events that cannot be read yet, because one before them is not whole.
  [[nodiscard]] virtual bool blocked(int cpu) const {
    static_cast<void>(cpu);
    return false;
  }
};

class TraceRing : public TracePages {
 public:
  static Result<TraceRing> open(const TraceInstance& instance, const std::vector<int>& cpus);
  bool read(int cpu, std::span<std::byte> page) override;
  // The instance can be removed afterwards.
  void close() { rings_.clear(); }

 private:
  std::vector<std::pair<int, Fd>> rings_;
};

}  // namespace howlate
