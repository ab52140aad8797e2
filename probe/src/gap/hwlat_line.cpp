#include "gap/hwlat_line.hpp"

#include <charconv>
#include <cstdio>

namespace howlate {

namespace {

// The integer that stands after `mark`, blanks left out; the text behind it stays in `text`.
std::optional<std::int64_t> after(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > INT64_MAX / 1'000'000'000) return {};
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  return value;
}

}  // namespace

std::optional<HwlatLine> read_hwlat_line(std::string_view line) {
  std::string_view rest = line;
  HwlatLine found;
  const auto cpu = after(rest, " [");
  const auto inner = after(rest, "inner/outer(us):");
  const auto outer = after(rest, "/");
  const auto seconds = after(rest, "ts:");
  const auto part = after(rest, ".");
  if (!cpu || *cpu > 1'000'000 || !inner || !outer || !seconds || !part) return {};
  found.cpu = static_cast<int>(*cpu);
  found.inner_ns = *inner * 1000;
  found.outer_ns = *outer * 1000;
  found.realtime_ns = *seconds * 1'000'000'000 + *part % 1'000'000'000;
  if (const auto count = after(rest, "count:")) found.count = *count;
  return found;
}

std::string cpu_mask_text(const std::vector<int>& cpus) {
  const int last = cpus.empty() ? 0 : *std::max_element(cpus.begin(), cpus.end());
  std::vector<std::uint32_t> words(static_cast<std::size_t>(last) / 32 + 1);
  for (const int cpu : cpus)
    words[static_cast<std::size_t>(cpu) / 32] |= std::uint32_t{1} << (static_cast<unsigned>(cpu) % 32U);
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    char digits[16];
    std::snprintf(digits, sizeof digits, text.empty() ? "%x" : ",%08x", static_cast<unsigned>(*word));
    text += digits;
  }
  return text;
}

}  // namespace howlate
