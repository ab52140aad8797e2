#include "core/tick_times.hpp"

#include <algorithm>

namespace howlate {

bool TickTimes::is_good(const Reading& reading) const {
  return reading.apart() >= 0 && reading.apart() / 2 <= shortest_;
}

void TickTimes::add(const Reading& reading) {
  if (reading.apart() < 0) return;
  const bool old = count_ == 0 || reading.ns - instants_[count_ - 1].ns >= old_ns;
  if (!old && reading.apart() / 4 > shortest_) return;
  shortest_ = std::min(shortest_, reading.apart());
  add(reading.before + reading.apart() / 2, reading.ns);
}

void TickTimes::add(std::int64_t ticks, std::int64_t ns) {
  if (count_ != 0 && ticks <= instants_[count_ - 1].ticks) return;
  if (count_ == 2 && instants_[1].ns - instants_[0].ns < apart_ns)
    --count_;
  else if (count_ >= 2 && ns - instants_[count_ - 1].ns < apart_ns)
    return;
  if (count_ == instants_max) {
    std::move(instants_.begin() + 1, instants_.end(), instants_.begin());
    --count_;
  }
  instants_[count_++] = {ticks, ns};
}

TickTimes::Line TickTimes::line_at(std::int64_t ticks) const {
  if (count_ < 2) return {};
  const Instant* const second = instants_.data() + 1;
  const Instant* const last = instants_.data() + count_ - 1;
  const Instant* const after = std::lower_bound(
      second, last, ticks, [](const Instant& instant, std::int64_t at) { return instant.ticks < at; });
  const Instant& before = *(after - 1);
  Line line{before.ticks, before.ns,
            static_cast<double>(after->ns - before.ns) / static_cast<double>(after->ticks - before.ticks)};
  if (after != second) line.from_ticks = before.ticks;
  if (after != last) line.to_ticks = after->ticks;
  return line;
}

// Of any number, as a damaged page may have it.
std::int64_t TickTimes::Line::ns_of(std::int64_t at) const {
  constexpr double limit_ns = 4e18;
  const auto since =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(ticks));
  const double since_ns = std::clamp(static_cast<double>(since) * slope, -limit_ns, limit_ns);
  const auto rounded = static_cast<std::int64_t>(since_ns < 0 ? since_ns - 0.5 : since_ns + 0.5);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + static_cast<std::uint64_t>(rounded));
}

}  // namespace howlate
