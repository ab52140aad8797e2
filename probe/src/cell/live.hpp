// Output while a cell is measured: a line on a terminal, once a second, or lines for a program.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/histogram.hpp"
#include "core/params.hpp"

namespace howlate {

// How often which latency was measured so far, for a picture: eight bins an octave, of 16 of a histogram's each. One thread counts,
// another reads.
class LiveBins {
 public:
  static constexpr std::size_t each = 16, count = Histogram::bin_count / each;

  void add(std::int64_t latency_ns) {
    auto& bin = bins_[Histogram::bin_of(latency_ns < 0 ? 0 : latency_ns) / each];
    bin.store(bin.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t in_bin(std::size_t bin) const {
    return bins_[bin].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, count> bins_{};
};

// The progress of the measurement.
struct SoFar {
  // Of one measuring thread.
  struct OfThread {
    int cpu = -1;  // -1: not pinned
    std::int64_t activations = 0;
    std::int64_t latency_ns_max = 0;  // 0 before its first
    const LiveBins* bins = nullptr;   // null where nobody counts
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
  void print_progress(std::int64_t elapsed_ns, const SoFar& so_far);
  void print_bins(std::size_t thread, const LiveBins& bins);
  void draw(std::int64_t elapsed_ns, const SoFar& so_far) const;

  bool terminal_;
  bool progress_;
  std::int64_t t0_ns_ = 0;
  std::int64_t due_ns_ = 0;
  std::vector<std::array<std::uint64_t, LiveBins::count>> printed_;  // of each thread
};

}  // namespace howlate
