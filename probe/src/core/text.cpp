#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace howlate {

namespace {

char folded(char letter) {
  if (letter == '_') return '-';
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string folded(std::string_view word) {
  std::string result(word);
  for (char& letter : result) letter = folded(letter);
  return result;
}

template <class Parts>
std::string joined(const Parts& parts, std::string_view between) {
  std::string result;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) result += between;
    result += part;
    first = false;
  }
  return result;
}

// Three significant digits: "1.23", "12.3", "123"; rounding may carry into a fourth ("1000"), which the
// caller's unit absorbs.
std::string three_digits(double value) {
  std::array<char, 32> buffer{};
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

std::string two_units(std::uint64_t whole, std::string_view unit, std::uint64_t part,
                      std::string_view part_unit) {
  std::string padded = std::to_string(part);
  if (padded.size() < 2) padded.insert(0, "0");
  return std::to_string(whole) + " " + std::string(unit) + " " + padded + " " + std::string(part_unit);
}

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> before(width);
  std::vector<std::size_t> last(width);
  std::vector<std::size_t> row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t differs = left[i - 1] == right[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[width - 1];
}

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  const std::string wanted = folded(word);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::string candidate = folded(name);
    std::size_t distance = edit_distance(wanted, candidate);
    // A word that is begun but not ended is meant rather than one that differs by as many letters.
    if (wanted.size() >= 2 && candidate.starts_with(wanted)) distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance && distance < candidate.size()) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

Error unknown_name(std::string_view kind, std::string_view word, std::span<const std::string_view> names) {
  std::string message = "there is no " + std::string(kind) + " " + in_quotes(word);
  const std::string_view near = nearest_name(word, names);
  if (!near.empty()) return usage_error(std::move(message), suggestion(near));
  if (names.empty()) return usage_error(std::move(message), "this build has none");
  return usage_error(std::move(message), "choose one of " + join(names, ", "));
}

std::string format_duration_ns(std::int64_t duration_ns) {
  const bool negative = duration_ns < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(duration_ns) : static_cast<std::uint64_t>(duration_ns);
  const auto value = static_cast<double>(size);
  std::string text;
  if (size < 1'000) {
    text = std::to_string(size) + " ns";
  } else if (value < 999.5e3) {
    text = three_digits(value / 1e3) + " us";
  } else if (value < 999.5e6) {
    text = three_digits(value / 1e6) + " ms";
  } else if (size < 60'000'000'000) {
    text = three_digits(value / 1e9) + " s";
  } else if (const std::uint64_t seconds = size / 1'000'000'000; seconds < 3'600) {
    text = two_units(seconds / 60, "min", seconds % 60, "s");
  } else {
    text = two_units(seconds / 3'600, "h", seconds / 60 % 60, "min");
  }
  return negative ? "-" + text : text;
}

std::string spell_duration_ns(std::int64_t duration_ns) {
  if (duration_ns == 0) return "0ns";
  using Unit = std::pair<std::int64_t, std::string_view>;
  for (const auto& [unit_ns, unit] : {Unit{3'600'000'000'000, "h"}, Unit{60'000'000'000, "min"},
                                      Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "us"}})
    if (duration_ns % unit_ns == 0) return std::to_string(duration_ns / unit_ns) + std::string(unit);
  return std::to_string(duration_ns) + "ns";
}

std::string join(std::span<const std::string_view> parts, std::string_view between) {
  return joined(parts, between);
}
std::string join(std::span<const std::string> parts, std::string_view between) {
  return joined(parts, between);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string in_quotes(std::string_view name) {
  return '"' + std::string(name) + '"';
}

std::string suggestion(std::string_view near) {
  return near.empty() ? "" : "did you mean " + in_quotes(near) + "?";
}

std::string sentence(const Error& error) {
  const auto ended = [](const std::string& part) {
    return part.empty() || part.back() == '.' || part.back() == '?' || part.back() == '!' ? part : part + ".";
  };
  std::string remedy = ended(error.remedy);
  if (remedy.empty()) return ended(error.message);
  if (remedy[0] >= 'a' && remedy[0] <= 'z') remedy[0] = static_cast<char>(remedy[0] - 'a' + 'A');
  return ended(error.message) + " " + remedy;
}

}  // namespace howlate
