#include "irq/timerlat_line.hpp"

#include <charconv>

namespace howlate {

namespace {

std::string_view word_of(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(' ', begin);
  const std::string_view word = text.substr(begin, end == std::string_view::npos ? end : end - begin);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  return word;
}

std::optional<std::int64_t> number_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stopped != word.data() + word.size()) return {};
  return value;
}

// "12.345678" in nanoseconds.
std::optional<std::int64_t> stamp_of(std::string_view word) {
  const std::size_t point = word.find('.');
  if (point == std::string_view::npos || word.size() - point != 7) return {};
  const auto seconds = number_of(word.substr(0, point));
  const auto microseconds = number_of(word.substr(point + 1));
  if (!seconds || !microseconds) return {};
  return *seconds * 1'000'000'000 + *microseconds * 1000;
}

}  // namespace

std::optional<TimerlatLine> read_timerlat_line(std::string_view line) {
  const std::size_t at = line.find(": #");
  if (at == std::string_view::npos) return {};
  const std::string_view head = line.substr(0, at);
  const std::size_t blank = head.rfind(' ');
  const auto stamp = stamp_of(head.substr(blank == std::string_view::npos ? 0 : blank + 1));
  std::string_view rest = line.substr(at + 3);
  const auto number = number_of(word_of(rest));
  if (!stamp || !number || word_of(rest) != "context") return {};
  const std::string_view context = word_of(rest);
  if (context != "irq" && context != "thread") return {};
  if (word_of(rest) != "timer_latency") return {};
  const auto latency = number_of(word_of(rest));
  if (!latency || word_of(rest) != "ns") return {};
  return TimerlatLine{*number, context == "irq", *latency, *stamp};
}

}  // namespace howlate
