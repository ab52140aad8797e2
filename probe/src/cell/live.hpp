// What is shown while a cell is measured, at most once a second: a line on a terminal, or lines for a
// program.
#pragma once

#include <cstdint>

#include "core/params.hpp"

namespace howlate {

class Live {
 public:
  explicit Live(const Params& params);

  // CLOCK_MONOTONIC of the next line; t0 until there was one.
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  void begin(std::int64_t t0_ns);
  // Where what is made is no activation but a data point, `latency_ns_max` is -1.
  void show(std::int64_t now_ns, std::int64_t activations, std::int64_t latency_ns_max);
  void clear() const;  // the terminal's line, before anything else is printed

 private:
  bool terminal_;
  bool progress_;
  std::int64_t t0_ns_ = 0;
  std::int64_t due_ns_ = 0;
};

}  // namespace howlate
