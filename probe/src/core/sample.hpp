// One activation as the measuring thread leaves it in its ring: five stores and a word of flags.
#pragma once

#include <cstdint>

namespace howlate {

// The bits of `flags`, in the ring as in every table `samples` of the stream (docs/stream.md).
inline constexpr std::uint32_t row_warm_up = 1U << 0U;
// The kernel took the CPU away within the sample; of activations where the thread spins.
inline constexpr std::uint32_t row_switched_out = 1U << 1U;

struct Sample {
  std::int64_t release;          // index n of the release served; 0-based
  std::int64_t release_ns;       // the release, as an offset from the first of its thread
  std::int64_t latency_ns;       // first user-space time stamp minus release
  std::int64_t response_ns;      // end of the activation's work minus release; 0 without work
  std::int64_t overruns_before;  // overruns counted by the measuring thread before this release
  std::uint32_t dropped_before;  // samples that found the ring full before this one
  std::uint32_t flags;
};

}  // namespace howlate
