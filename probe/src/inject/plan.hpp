// When the delays of a lane begin and how long they are: pure, from a stored seed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/schedule.hpp"

namespace howlate {

inline constexpr std::int64_t inject_size_ns_min = 1'000;
inline constexpr std::int64_t inject_size_ns_max = 10'000'000;
// A delay keeps this distance from the release before the one that it is aimed at, and if it is aimed at none, from both.
inline constexpr std::int64_t inject_clear_ns = 50'000;
inline constexpr std::int64_t inject_round_ns_max = 10'000'000;

struct InjectSizes {
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
};
// "20us-500us", or "100us" alone.
Result<InjectSizes> parse_inject_sizes(std::string_view text);

struct InjectSpec {
  InjectSizes sizes;
  std::int64_t every = 1;  // releases: one delay in so many
  std::uint64_t seed = 0;
  // Of the turns in which a virtual machine's CPUs execute: a delay keeps so much more distance, since all may be later by it.
  std::int64_t round_ns = 0;
};

struct PlannedDelay {
  std::int64_t release =
      0;  // into whose window it is to last; of one that is aimed at none, the next after it
  std::int64_t release_ns = 0;  // that, as an offset from the first release
  std::int64_t begin_ns = 0;    // the same
  std::int64_t size_ns = 0;
  bool aimed = true;
};

// One delay for each `every`-th of the first `releases` releases, in order. Its size is drawn evenly. It begins within its size
// before the release, evenly drawn too; one in eight is aimed at no release and lies between two, where there is room for it.
std::vector<PlannedDelay> plan_delays(const InjectSpec& spec, const ScheduleSpec& schedule,
                                      std::int64_t releases);

}  // namespace howlate
