#include "core/trace_page.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/trace_format.hpp"

namespace howlate {

namespace {

// include/linux/ring_buffer.h: an event's first word has its kind or length in 5 bits, and the time since the event before
// in 27.
constexpr std::uint32_t kind_data_max = 28, kind_padding = 29, kind_time_extend = 30, kind_time_stamp = 31;
constexpr unsigned delta_bits = 27;
constexpr std::uint32_t delta_max = (1U << delta_bits) - 1;
constexpr std::uint64_t stamp_mask = (std::uint64_t{1} << 59U) - 1;

// The commit's upper bits (kernel/trace/ring_buffer.c).
constexpr std::uint32_t commit_lost = 1U << 31U;
constexpr std::uint32_t commit_lost_counted = 1U << 30U;
constexpr std::uint32_t commit_mask = (1U << 20U) - 1;

constexpr std::uint32_t page_bytes_max = 1U << 20U;

std::uint32_t kind_of(std::uint32_t word) {
  return std::endian::native == std::endian::little ? word & 31U : word >> delta_bits;
}
std::uint32_t delta_of(std::uint32_t word) {
  return std::endian::native == std::endian::little ? word >> 5U : word & delta_max;
}

// A time stamp has 59 bits of the clock; the others are those of the time before, or one more where they wrapped.
std::int64_t whole_stamp(std::uint64_t stamp, std::int64_t before_ns) {
  const std::uint64_t upper = static_cast<std::uint64_t>(before_ns) & ~stamp_mask;
  stamp |= upper;
  if (upper != 0 && stamp < static_cast<std::uint64_t>(before_ns)) stamp += stamp_mask + 1;
  return static_cast<std::int64_t>(stamp);
}

std::int64_t plus(std::int64_t time_ns, std::uint64_t delta_ns) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) + delta_ns);
}

}  // namespace

std::uint32_t page_word(std::uint32_t kind, std::uint64_t delta) {
  const std::uint32_t time = static_cast<std::uint32_t>(delta) & delta_max;
  return std::endian::native == std::endian::little ? kind | time << 5U : kind << delta_bits | time;
}

std::optional<PageLayout> parse_page_layout(std::string_view header_page) {
  const auto fields = parse_trace_fields(header_page);
  const TraceField* const stamp = find_field(fields, "timestamp");
  const TraceField* const commit = find_field(fields, "commit");
  const TraceField* const data = find_field(fields, "data");
  if (stamp == nullptr || commit == nullptr || data == nullptr) return std::nullopt;
  const bool sizes = stamp->bytes == 8 && (commit->bytes == 8 || commit->bytes == 4);
  const bool places = stamp->offset < 64 && commit->offset < 64 && data->offset < 128;
  const bool apart =
      data->offset >= stamp->offset + stamp->bytes && data->offset >= commit->offset + commit->bytes;
  if (!sizes || !places || !apart || data->bytes < 64 || data->bytes > page_bytes_max) return std::nullopt;
  return PageLayout{stamp->offset, commit->offset, commit->bytes, data->offset, data->bytes};
}

PageReader::PageReader(const PageLayout& layout, std::span<const std::byte> page) {
  if (page.size() < layout.data_at) {
    damaged_ = true;
    return;
  }
  std::memcpy(&begin_ns_, page.data() + layout.stamp_at, sizeof begin_ns_);
  time_ns_ = begin_ns_;
  std::uint64_t whole = 0;
  if (layout.commit_bytes == 8) {
    std::memcpy(&whole, page.data() + layout.commit_at, sizeof whole);
  } else {
    std::uint32_t half = 0;
    std::memcpy(&half, page.data() + layout.commit_at, sizeof half);
    whole = half;
  }
  const auto commit = static_cast<std::uint32_t>(whole);
  const std::size_t committed = commit & commit_mask;
  const auto room = page.subspan(layout.data_at);
  after_loss_ = (commit & commit_lost) != 0;
  damaged_ = committed > room.size();
  if (damaged_) return;
  data_ = room.first(committed);
  // The number stands behind the last event, as a long, where there is room for it.
  if ((commit & commit_lost_counted) != 0 && room.size() - committed >= layout.commit_bytes) {
    lost_ = 0;
    std::memcpy(&lost_, room.data() + committed, layout.commit_bytes);
  }
}

std::optional<std::uint32_t> PageReader::word(std::size_t at) const {
  if (at > data_.size() || data_.size() - at < sizeof(std::uint32_t)) return std::nullopt;
  std::uint32_t value = 0;
  std::memcpy(&value, data_.data() + at, sizeof value);
  return value;
}

void PageReader::end(bool damaged) {
  at_ = data_.size();
  damaged_ = damaged_ || damaged;
}

std::optional<PageReader::Entry> PageReader::entry() {
  while (at_ < data_.size()) {
    const auto head = word(at_);
    if (!head) break;
    const std::uint32_t kind = kind_of(*head);
    const std::uint32_t delta = delta_of(*head);
    const bool long_form = kind == 0 || kind > kind_data_max;
    if (kind == kind_padding && delta == 0) return end(false), std::nullopt;  // the rest of the page is empty
    const auto second = long_form ? word(at_ + 4) : std::optional<std::uint32_t>(0);
    if (!second) break;
    const std::size_t at = at_;
    if (kind == kind_time_extend || kind == kind_time_stamp) {
      const std::uint64_t large = (std::uint64_t{*second} << delta_bits) + delta;
      time_ns_ = kind == kind_time_extend ? plus(time_ns_, large) : whole_stamp(large, time_ns_);
      at_ += 8;
      return Entry{at, kind, {}};
    }
    // The second word of a long event counts itself, but not the first.
    const std::size_t bytes = long_form ? *second : std::size_t{kind} * 4;
    if (bytes < 4 || bytes > data_.size() - at_ - 4) break;
    const std::size_t skipped = long_form ? 4 : 0;
    time_ns_ = plus(time_ns_, delta);
    at_ += 4 + ((bytes + 3) & ~std::size_t{3});
    return Entry{at, kind, data_.subspan(at + 4 + skipped, bytes - skipped)};
  }
  end(at_ < data_.size());
  return std::nullopt;
}

std::optional<PageEvent> PageReader::next() {
  while (const auto one = entry())
    if (one->kind < kind_padding) return PageEvent{time_ns_, one->data};
  return std::nullopt;
}

PageStretch stretch_of(const PageLayout& layout, std::span<const std::byte> page) {
  PageReader reader(layout, page);
  PageStretch stretch{reader.begin_ns(), reader.begin_ns(), 0, reader.after_loss(), reader.lost()};
  while (const auto event = reader.next()) {
    if (stretch.events++ == 0) stretch.first_ns = event->time_ns;
    stretch.last_ns = event->time_ns;
  }
  return stretch;
}

PageStretch stretch_of(const PageLayout& layout, std::span<const std::byte> page, const TickTimes& times,
                       std::int64_t floor_ns) {
  PageStretch stretch = stretch_of(layout, page);
  for (std::int64_t* const end : {&stretch.first_ns, &stretch.last_ns})
    *end = std::max(times.line_at(*end).ns_of(*end), floor_ns);
  return stretch;
}

void retime(const PageLayout& layout, std::span<std::byte> page, const TickTimes& times,
            std::int64_t floor_ns) {
  PageReader reader(layout, page);
  if (reader.damaged_) return;
  TickTimes::Line line = times.line_at(reader.begin_ns_);
  std::int64_t now_ns = std::max(line.ns_of(reader.begin_ns_), floor_ns);
  std::memcpy(page.data() + layout.stamp_at, &now_ns, sizeof now_ns);
  const auto data = page.subspan(layout.data_at);
  while (const auto one = reader.entry()) {
    if (!line.has(reader.time_ns_)) line = times.line_at(reader.time_ns_);
    const std::int64_t at_ns = line.ns_of(reader.time_ns_);
    auto since_ns =
        at_ns > now_ns ? static_cast<std::uint64_t>(at_ns) - static_cast<std::uint64_t>(now_ns) : 0;
    const bool is_long = one->kind == kind_time_extend || one->kind == kind_time_stamp;
    // What does not fit, as a counter of hardly 1 GHz may have it, is counted with the next event. Padding without a time would be the end.
    if (!is_long) since_ns = std::min<std::uint64_t>(since_ns, delta_max);
    if (one->kind == kind_padding) since_ns = std::max<std::uint64_t>(since_ns, 1);
    now_ns = plus(now_ns, since_ns);
    const std::uint64_t time =
        one->kind == kind_time_stamp ? static_cast<std::uint64_t>(now_ns) & stamp_mask : since_ns;
    const std::uint32_t head = page_word(one->kind, time);
    std::memcpy(data.data() + one->at, &head, sizeof head);
    if (!is_long) continue;
    const auto upper = static_cast<std::uint32_t>(time >> delta_bits);
    std::memcpy(data.data() + one->at + sizeof head, &upper, sizeof upper);
  }
}

}  // namespace howlate
