#include "trace/page_store.hpp"

namespace howlate {

PageStore::PageStore(std::span<std::byte> memory, std::size_t page_bytes)
    : memory_(memory), page_bytes_(page_bytes) {
  const auto slots = static_cast<std::uint32_t>(memory.size() / page_bytes);
  free_.reserve(slots);
  pages_.reserve(slots);
  for (std::uint32_t slot = slots - 1; slot > 0; --slot) free_.push_back(slot);
}

bool PageStore::keep(KeptPage page) {
  if (free_.empty()) return false;
  page.slot = scratch_;
  pages_.push_back(page);
  scratch_ = free_.back();
  free_.pop_back();
  return true;
}

void PageStore::drop_unless(const std::function<bool(const KeptPage&)>& needed) {
  std::size_t kept = 0;
  for (const KeptPage& page : pages_) {
    if (needed(page)) {
      pages_[kept++] = page;
    } else {
      free_.push_back(page.slot);
    }
  }
  pages_.resize(kept);
}

}  // namespace howlate
