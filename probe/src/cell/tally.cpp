#include "cell/tally.hpp"

namespace howlate {

std::int64_t Tally::add(const Sample& sample) {
  ++rows_;
  release_ = sample.release;
  overruns_ = sample.overruns_before;
  dropped_ = sample.dropped_before;
  if (!totals().balanced()) ++unbalanced_;
  add_value(sample);
  return sample.flags;
}

void Tally::add_value(const Sample& sample) {
  const std::int64_t latency = sample.latency_ns;
  if (latency > latency_.max()) max_at_ns_ = sample.release_ns + spec_.stagger_ns;
  latency_.add(latency);
  if (latency > spec_.period_ns) ++period_exceeded_;
  if (spec_.deadline_ns != 0 && (spec_.has_work ? sample.response_ns : latency) > spec_.deadline_ns)
    ++deadline_misses_;
}

}  // namespace howlate
