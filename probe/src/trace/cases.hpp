// Which samples are worth explaining: the K worst of each thread so far, and every one above a threshold. Pure; all memory
// is allocated at the start, and what finds no room is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sample.hpp"

namespace howlate {

struct CaseSpec {
  std::size_t threads = 1;
  std::size_t worst = 20;        // of each thread
  std::int64_t above_ns = 0;     // 0: no threshold
  std::size_t above_max = 2048;  // of each thread: more are counted as lost, unless they are among the worst
  std::int64_t margin_ns = 200'000;  // before the release and after the time stamp
};

// The bits of `state` in the table trace_cases (docs/stream.md).
inline constexpr std::uint8_t case_beginning_lost = 1, case_events_lost = 2, case_nothing_kept = 4;

// One late activation with its stretch of time, from the margin before its release to the margin after its time stamp.
struct Case {
  int thread = 0;
  std::int64_t release = 0;     // its index
  std::int64_t release_ns = 0;  // CLOCK_MONOTONIC, as both ends of the stretch
  std::int64_t latency_ns = 0;
  std::int64_t from_ns = 0, to_ns = 0;
  std::uint8_t state = 0;
  bool read = false;  // the trace was read up to the end of its stretch

  [[nodiscard]] bool overlaps(std::int64_t begin_ns, std::int64_t end_ns) const {
    return begin_ns <= to_ns && end_ns >= from_ns;
  }
};

class Cases {
 public:
  explicit Cases(const CaseSpec& spec);

  // The next sample of a thread; `t0_ns` is what its release_ns counts from. Samples that were noted before are passed over.
  void note(std::size_t thread, const Sample& sample, std::int64_t t0_ns);

  [[nodiscard]] std::vector<Case>& of(std::size_t thread) { return threads_[thread].cases; }
  [[nodiscard]] const std::vector<Case>& of(std::size_t thread) const { return threads_[thread].cases; }
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::int64_t lost() const;  // above the threshold, and not kept

 private:
  // `cases` begins with a heap of the worst, the least of them first, up to `ranked`; those above the threshold follow.
  struct Thread {
    std::vector<Case> cases;
    std::size_t ranked = 0;
    std::int64_t last_release = -1;
    std::int64_t lost = 0;
  };
  void rank(Thread& thread, const Case& one) const;

  CaseSpec spec_;
  std::vector<Thread> threads_;
};

}  // namespace howlate
