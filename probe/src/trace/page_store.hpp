// Pages of the kernel's trace ring that were kept because a case needs them: memory that is allocated and touched before
// the cell, and no more than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/trace_page.hpp"

namespace howlate {

struct KeptPage {
  std::uint32_t slot = 0;
  int cpu = 0;
  std::int64_t first_ns = 0, last_ns = 0;  // of its events
  std::int64_t gap_ns = 0;  // where events before its first were lost: the last one known before them
  bool after_loss = false;
  std::int64_t lost = -1;  // how many; -1: unknown

  // The stretch for which it is the answer: its events, and a loss before them.
  [[nodiscard]] std::int64_t begin_ns() const { return after_loss ? gap_ns : first_ns; }
};

class PageStore {
 public:
  // `memory` holds at least two pages.
  PageStore(std::span<std::byte> memory, std::size_t page_bytes);

  // Where the next page is to be read.
  [[nodiscard]] std::span<std::byte> scratch() { return slot(scratch_); }
  // Keeps the page that is there. False where no room is left; another call of drop() may make some.
  bool keep(KeptPage page);
  // Frees the pages for which `needed` is false.
  void drop_unless(const std::function<bool(const KeptPage&)>& needed);

  [[nodiscard]] std::vector<KeptPage>& pages() { return pages_; }
  [[nodiscard]] const std::vector<KeptPage>& pages() const { return pages_; }
  [[nodiscard]] std::span<const std::byte> bytes(const KeptPage& page) const {
    return memory_.subspan(page.slot * page_bytes_, page_bytes_);
  }

 private:
  [[nodiscard]] std::span<std::byte> slot(std::uint32_t number) const {
    return memory_.subspan(number * page_bytes_, page_bytes_);
  }

  std::span<std::byte> memory_;
  std::size_t page_bytes_;
  std::vector<std::uint32_t> free_;
  std::vector<KeptPage> pages_;
  std::uint32_t scratch_ = 0;
};

}  // namespace howlate
