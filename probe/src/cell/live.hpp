// Output while a cell is measured, at most once a second: a line on a terminal, or lines for a
// program.
#pragma once

#include <cstdint>
#include <vector>

#include "core/params.hpp"

namespace howlate {

// The progress of the measurement.
struct SoFar {
  // Of one measuring thread.
  struct OfThread {
    int cpu = -1;  // -1: not pinned
    std::int64_t activations = 0;
    std::int64_t latency_ns_max = 0;  // 0 before its first
  };

  std::int64_t made = 0;             // activations, or data points
  std::int64_t latency_ns_max = -1;  // the largest of all threads; -1 where data points are made
  std::vector<OfThread> threads{};   // of activations
};

class Live {
 public:
  explicit Live(const Params& params);

  // CLOCK_MONOTONIC of the next line; t0 until there was one.
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  void begin(std::int64_t t0_ns);
  // To be called when it is due.
  void show(std::int64_t now_ns, const SoFar& so_far);
  void clear() const;  // the terminal's line, before anything else is printed

 private:
  void print_progress(std::int64_t elapsed_ns, const SoFar& so_far) const;
  void draw(std::int64_t elapsed_ns, const SoFar& so_far) const;

  bool terminal_;
  bool progress_;
  std::int64_t t0_ns_ = 0;
  std::int64_t due_ns_ = 0;
};

}  // namespace howlate
