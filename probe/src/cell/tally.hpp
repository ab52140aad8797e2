// What the recorder itself counts of one lane while it drains it: the statistics of the summary, and the
// other half of the account (the measuring thread keeps its own).
#pragma once

#include <cstdint>

#include "core/histogram.hpp"
#include "core/sample.hpp"
#include "core/stream.hpp"

namespace howlate {

struct TallySpec {
  std::int64_t period_ns = 0;
  std::int64_t deadline_ns = 0;  // 0: none
  bool has_work = false;         // the deadline is the response's
  std::int64_t stagger_ns = 0;   // the lane's first release minus the cell's t0
};

class Tally {
 public:
  explicit Tally(const TallySpec& spec) : spec_(spec) {}

  // Takes the next sample of the lane and returns its row's flags.
  std::int64_t add(const Sample& sample);

  // The account up to the last sample; `recorded` is rows(). Only of samples that balanced.
  [[nodiscard]] Totals totals() const { return {release_ + 1, rows_, overruns_, dropped_}; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  // Samples that did not fit the account: releases = recorded + overruns + dropped was wrong at them.
  [[nodiscard]] std::int64_t unbalanced() const { return unbalanced_; }

  [[nodiscard]] const Histogram& latency() const { return latency_; }
  [[nodiscard]] std::int64_t max_at_ns() const {
    return max_at_ns_;
  }  // the release's offset from the cell's t0
  [[nodiscard]] std::int64_t period_exceeded() const { return period_exceeded_; }
  [[nodiscard]] std::int64_t deadline_misses() const { return deadline_misses_; }

 private:
  void add_value(const Sample& sample);

  TallySpec spec_;
  std::int64_t release_ = -1;
  std::int64_t rows_ = 0;
  std::int64_t overruns_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t unbalanced_ = 0;
  Histogram latency_;
  std::int64_t max_at_ns_ = 0;
  std::int64_t period_exceeded_ = 0;
  std::int64_t deadline_misses_ = 0;
};

}  // namespace howlate
