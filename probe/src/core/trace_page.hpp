// Pages of the kernel's trace ring, as per_cpu/cpuN/trace_pipe_raw gives them. Pure: bytes in, events out. A page is the
// kernel's, but a reader must not trust it: what does not fit ends the page, and nothing beyond it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/tick_times.hpp"

namespace howlate {

// Where a page has its parts, by the kernel's own description (events/header_page).
struct PageLayout {
  std::uint32_t stamp_at = 0;
  std::uint32_t commit_at = 8;
  std::uint32_t commit_bytes = 8;
  std::uint32_t data_at = 16;
  std::uint32_t data_bytes = 4080;
  [[nodiscard]] std::size_t page_bytes() const { return std::size_t{data_at} + data_bytes; }
};
// Nothing where the description is not understood.
std::optional<PageLayout> parse_page_layout(std::string_view header_page);

// The first word of a page's event: its kind or length, and the time since the event before.
std::uint32_t page_word(std::uint32_t kind, std::uint64_t delta);

struct PageEvent {
  std::int64_t time_ns = 0;  // by the page's clock
  std::span<const std::byte> data;
};

class PageReader {
 public:
  PageReader(const PageLayout& layout, std::span<const std::byte> page);

  // The events in their order; nothing after the last, or where the page is damaged.
  std::optional<PageEvent> next();

  [[nodiscard]] std::int64_t begin_ns() const {
    return begin_ns_;
  }  // where the page begins: not after its first event
  // Events between the page read before and this one were lost: overwritten, mostly.
  [[nodiscard]] bool after_loss() const { return after_loss_; }
  [[nodiscard]] std::int64_t lost() const { return lost_; }  // how many; -1: the page does not say
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  friend void retime(const PageLayout&, std::span<std::byte>, const TickTimes&, std::int64_t);
  // An event, padding or a time alone.
  struct Entry {
    std::size_t at = 0;  // in the page's data
    std::uint32_t kind = 0;
    std::span<const std::byte> data;
  };
  // With the time of each counted; nothing after the last, or where the page is damaged.
  std::optional<Entry> entry();
  std::optional<std::uint32_t> word(std::size_t at) const;
  void end(bool damaged);

  std::span<const std::byte> data_;  // of the events: what the page says is committed
  std::size_t at_ = 0;
  std::int64_t begin_ns_ = 0, time_ns_ = 0;
  std::int64_t lost_ = -1;
  bool after_loss_ = false, damaged_ = false;
};

// The stretch of time of a page's events; `last_ns` is `first_ns` or the page's own stamp where there are none.
struct PageStretch {
  std::int64_t first_ns = 0, last_ns = 0;
  std::int64_t events = 0;
  bool after_loss = false;
  std::int64_t lost = -1;
};
PageStretch stretch_of(const PageLayout& layout, std::span<const std::byte> page);

// The same of a page whose times are by a CPU's counter, none of them before `floor_ns`.
PageStretch stretch_of(const PageLayout& layout, std::span<const std::byte> page, const TickTimes& times,
                       std::int64_t floor_ns);
// Rewrites such a page's times as times by the clock of `times`. The counter has at least 1 GHz, or little less.
void retime(const PageLayout& layout, std::span<std::byte> page, const TickTimes& times,
            std::int64_t floor_ns);

}  // namespace howlate
