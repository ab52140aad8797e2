// Pages of the kernel's trace ring as its ring_buffer.c writes them, for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/trace_page.hpp"

namespace howlate {

inline constexpr std::uint32_t time_extend = 30, time_stamp = 31, padding = 29;

class MadePage {
 public:
  explicit MadePage(std::int64_t begin_ns, PageLayout layout = {}) : layout_(layout), begin_ns_(begin_ns) {}

  MadePage& event(std::uint32_t delta, const std::vector<std::byte>& data) {
    const std::uint32_t words = static_cast<std::uint32_t>(data.size() + 3) / 4;
    if (words >= 1 && words <= 28) {
      word(head(words, delta));
    } else {
      word(head(0, delta)).word(words * 4 + 4);
    }
    const std::size_t at = data_.size();
    data_.resize(at + std::size_t{words} * 4);
    std::memcpy(data_.data() + at, data.data(), data.size());
    return *this;
  }
  MadePage& event(std::uint32_t delta, std::uint16_t id, std::size_t bytes = 12) {
    std::vector<std::byte> data(bytes);
    std::memcpy(data.data(), &id, sizeof id);
    return event(delta, data);
  }
  // A gap too long for 27 bits, and the whole time.
  MadePage& long_gap(std::uint32_t kind, std::uint64_t time) {
    return word(head(kind, static_cast<std::uint32_t>(time & ((1U << 27U) - 1))))
        .word(static_cast<std::uint32_t>(time >> 27U));
  }
  MadePage& discarded(std::uint32_t delta, std::uint32_t bytes) {
    word(head(padding, delta)).word(bytes);
    data_.resize(data_.size() + bytes - 4);
    return *this;
  }
  MadePage& empty_rest() { return word(head(padding, 0)); }
  MadePage& word(std::uint32_t value) {
    const std::size_t at = data_.size();
    data_.resize(at + sizeof value);
    std::memcpy(data_.data() + at, &value, sizeof value);
    return *this;
  }

  // `lost`: events before it; -1: lost, and not counted.
  [[nodiscard]] std::vector<std::byte> bytes(std::int64_t lost = 0) const {
    std::vector<std::byte> page(layout_.page_bytes());
    std::uint64_t commit = data_.size();
    if (lost != 0) commit |= 1U << 31U;
    if (lost > 0) commit |= 1U << 30U;
    std::memcpy(page.data() + layout_.stamp_at, &begin_ns_, sizeof begin_ns_);
    std::memcpy(page.data() + layout_.commit_at, &commit, layout_.commit_bytes);
    std::copy(data_.begin(), data_.end(), page.begin() + layout_.data_at);
    if (lost > 0) std::memcpy(page.data() + layout_.data_at + data_.size(), &lost, layout_.commit_bytes);
    return page;
  }

 private:
  static std::uint32_t head(std::uint32_t kind, std::uint32_t delta) { return kind | delta << 5U; }

  PageLayout layout_;
  std::int64_t begin_ns_;
  std::vector<std::byte> data_;
};

inline const std::string header_page =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

inline const std::string common_fields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

}  // namespace howlate
