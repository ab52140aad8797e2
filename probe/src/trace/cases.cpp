#include "trace/cases.hpp"

#include <algorithm>

namespace howlate {

namespace {

// Of a heap whose first is the least late.
bool later(const Case& left, const Case& right) {
  return left.latency_ns > right.latency_ns;
}

}  // namespace

Cases::Cases(const CaseSpec& spec) : spec_(spec), threads_(spec.threads) {
  for (Thread& thread : threads_)
    thread.cases.reserve(spec_.worst + 1 + (spec_.above_ns != 0 ? spec_.above_max : 0));
}

void Cases::note(std::size_t index, const Sample& sample, std::int64_t t0_ns) {
  Thread& thread = threads_[index];
  if (sample.release <= thread.last_release) return;
  thread.last_release = sample.release;
  const bool above = spec_.above_ns != 0 && sample.latency_ns > spec_.above_ns;
  const bool among_worst = thread.ranked < spec_.worst ||
                           (spec_.worst != 0 && sample.latency_ns > thread.cases.front().latency_ns);
  if (!above && !among_worst) return;
  const std::int64_t release_ns = t0_ns + sample.release_ns;
  const Case one{static_cast<int>(index),
                 sample.release,
                 release_ns,
                 sample.latency_ns,
                 release_ns - spec_.margin_ns,
                 release_ns + std::max<std::int64_t>(sample.latency_ns, 0) + spec_.margin_ns,
                 0,
                 false};
  if (above && thread.cases.size() - thread.ranked < spec_.above_max) {
    thread.cases.push_back(one);
  } else if (among_worst) {
    rank(thread, one);
  } else {
    ++thread.lost;
  }
}

void Cases::rank(Thread& thread, const Case& one) const {
  const auto begin = thread.cases.begin();
  auto end = begin + static_cast<std::ptrdiff_t>(thread.ranked);
  if (thread.ranked < spec_.worst) {
    thread.cases.insert(end, one);
    ++thread.ranked;
    std::push_heap(thread.cases.begin(), thread.cases.begin() + static_cast<std::ptrdiff_t>(thread.ranked),
                   later);
    return;
  }
  std::pop_heap(begin, end, later);
  --end;
  if (spec_.above_ns != 0 && end->latency_ns > spec_.above_ns) ++thread.lost;
  *end = one;
  std::push_heap(begin, end + 1, later);
}

std::size_t Cases::count() const {
  std::size_t sum = 0;
  for (const Thread& thread : threads_) sum += thread.cases.size();
  return sum;
}

std::int64_t Cases::lost() const {
  std::int64_t sum = 0;
  for (const Thread& thread : threads_) sum += thread.lost;
  return sum;
}

}  // namespace howlate
