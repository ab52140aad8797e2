#include "core/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/text.hpp"

namespace howlate {

namespace {

constexpr int cpu_limit = 8192;  // more than any Linux is built for

struct Unit {
  std::string_view name;
  std::int64_t scale;
};

constexpr Unit duration_units[] = {{"ns", 1},
                                   {"us", 1'000},
                                   {"ms", 1'000'000},
                                   {"s", 1'000'000'000},
                                   {"m", 60'000'000'000},  // as rt-tests and rtla spell it
                                   {"min", 60'000'000'000},
                                   {"h", 3'600'000'000'000},
                                   {"d", 86'400'000'000'000}};
constexpr Unit byte_units[] = {{"", 1},
                               {"B", 1},
                               {"kB", 1'000},
                               {"KB", 1'000},
                               {"MB", 1'000'000},
                               {"GB", 1'000'000'000},
                               {"TB", 1'000'000'000'000},
                               {"KiB", 1LL << 10},
                               {"MiB", 1LL << 20},
                               {"GiB", 1LL << 30},
                               {"TiB", 1LL << 40}};

struct QuantityKind {
  std::string_view what;     // "a duration"
  std::string_view example;  // "250us, 1ms or 2s"
  std::string_view units;    // "ns, us, ms, s, m (or min), h or d"
  std::string_view smallest;
  std::span<const Unit> table;
};

constexpr QuantityKind duration_kind = {"a duration", "250us, 1ms or 2s", "ns, us, ms, s, m (or min), h or d",
                                        "1 ns", duration_units};
constexpr QuantityKind bytes_kind = {"a size", "512, 4KiB, 10MiB or 1GB",
                                     "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", "1 B", byte_units};

Error wrong(std::string_view text, const QuantityKind& kind, const std::string& why) {
  return usage_error(in_quotes(text) + " is not " + std::string(kind.what) + ": " + why,
                     "write it like " + std::string(kind.example));
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

std::size_t digits_from(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// digits[.digits] times `scale`, exactly: nothing is rounded and nothing wraps.
Result<std::int64_t> scaled(std::string_view text, std::string_view whole, std::string_view fraction,
                            std::int64_t scale, const QuantityKind& kind) {
  const Error large = wrong(text, kind, "it is too large");
  std::int64_t value = 0;
  for (const char digit : whole)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - '0', &value))
      return large;
  if (__builtin_mul_overflow(value, scale, &value)) return large;
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  const Error finer = wrong(text, kind, "it is finer than " + std::string(kind.smallest));
  if (fraction.size() > 18) return finer;
  std::int64_t part = 0;
  std::int64_t parts = 1;
  for (const char digit : fraction) {
    part = part * 10 + (digit - '0');
    parts *= 10;
  }
  const std::int64_t common =
      std::gcd(scale, parts);  // so that part * scale / parts needs no more than 64 bits
  if (part % (parts / common) != 0) return finer;
  if (__builtin_add_overflow(value, part / (parts / common) * (scale / common), &value)) return large;
  return value;
}

Result<std::int64_t> parse_quantity(std::string_view text, const QuantityKind& kind) {
  const std::size_t whole_end = digits_from(text, 0);
  std::size_t end = whole_end;
  std::string_view fraction;
  if (end < text.size() && text[end] == '.') {
    end = digits_from(text, whole_end + 1);
    fraction = text.substr(whole_end + 1, end - whole_end - 1);
    if (fraction.empty()) return wrong(text, kind, "there is nothing after the point");
  }
  if (whole_end == 0) return wrong(text, kind, "it does not begin with a number");
  const std::string_view unit = text.substr(end);
  if (text == "0") return std::int64_t{0};
  for (const Unit& one : kind.table) {
    if (one.name == unit) return scaled(text, text.substr(0, whole_end), fraction, one.scale, kind);
  }
  if (unit.empty()) return wrong(text, kind, "it has no unit");
  return wrong(text, kind, in_quotes(unit) + " is none of the units " + std::string(kind.units));
}

template <class Number>
bool read_whole(std::string_view text, Number& number, bool& too_large) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  too_large = code == std::errc::result_out_of_range;
  return code == std::errc{} && end == text.data() + text.size();
}

Result<int> parse_cpu(std::string_view text) {
  std::int64_t cpu = 0;
  bool too_large = false;
  const bool ok = !text.empty() && is_digit(text[0]) && read_whole(text, cpu, too_large);
  if (ok && cpu < cpu_limit) return static_cast<int>(cpu);
  return usage_error(in_quotes(text) + " is not the number of a CPU", "write a list like 0-3,5 or all");
}

}  // namespace

Result<std::int64_t> parse_duration_ns(std::string_view text) {
  return parse_quantity(text, duration_kind);
}
Result<std::int64_t> parse_bytes(std::string_view text) {
  return parse_quantity(text, bytes_kind);
}

Result<std::int64_t> parse_rate(std::string_view text) {
  static constexpr QuantityKind kind = {"a rate", "10MiB/s or 500kB/s", bytes_kind.units, "1 B/s",
                                        byte_units};
  if (text == "0") return std::int64_t{0};
  if (!text.ends_with("/s")) return wrong(text, kind, "it does not end with \"/s\"");
  return parse_quantity(text.substr(0, text.size() - 2), kind);
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  bool too_large = false;
  if (read_whole(text, number, too_large)) return number;
  return usage_error(in_quotes(text) + (too_large ? " is too large for 64 bits" : " is not a whole number"),
                     "write it like 1000 or -5");
}

Result<std::int64_t> parse_count(std::string_view text) {
  std::int64_t number = 0;
  bool too_large = false;
  if (!text.starts_with('-') && read_whole(text, number, too_large)) return number;
  return usage_error(in_quotes(text) + (too_large ? " is too large for 64 bits" : " is not a count"),
                     "write a whole number that is not negative, like 100000");
}

Result<double> parse_real(std::string_view text) {
  double number = 0;
  bool too_large = false;
  if (read_whole(text, number, too_large) && std::isfinite(number)) return number;
  return usage_error(in_quotes(text) + " is not a number", "write it like 0.5");
}

Result<double> parse_percent(std::string_view text) {
  std::string_view bare = text;
  if (bare.ends_with('%')) bare.remove_suffix(1);
  const Result<double> number = parse_real(bare);
  if (number && *number >= 0 && *number <= 100) return number;
  return usage_error(in_quotes(text) + " is not a share in per cent",
                     "write a number from 0 to 100, like 50 or 50%");
}

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (text == "all") return cpus;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    const std::size_t dash = part.find('-');
    const Result<int> first = parse_cpu(part.substr(0, dash));
    if (!first) return first.error();
    const Result<int> last = dash == std::string_view::npos ? first : parse_cpu(part.substr(dash + 1));
    if (!last) return last.error();
    if (*last < *first) {
      return usage_error("the range " + in_quotes(part) + " runs backwards", "write it like 0-3");
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    begin = comma + 1;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace howlate
