#include "core/text_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/text.hpp"

namespace howlate {

namespace {

constexpr std::size_t row_limit = 22;

struct Row {
  std::string from;
  std::string to;
  std::uint64_t count = 0;
};

std::string right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::vector<Row> rows_of(const Histogram& histogram) {
  std::vector<Row> rows;
  if (histogram.negatives() != 0)
    rows.push_back({format_duration_ns(histogram.min()), "0 ns", histogram.negatives()});
  if (histogram.max() < 0) return rows;
  std::size_t first = 0;
  while (histogram.in_bin(first) == 0) ++first;
  const std::size_t last = Histogram::bin_of(histogram.max());
  const std::size_t each = (last - first) / row_limit + 1;
  for (std::size_t begin = first; begin <= last; begin += each) {
    const std::size_t end = std::min(begin + each - 1, last);
    Row row{format_duration_ns(Histogram::lower_edge(begin)), format_duration_ns(Histogram::last_value(end)),
            0};
    for (std::size_t bin = begin; bin <= end; ++bin) row.count += histogram.in_bin(bin);
    if (end == last) row.to = format_duration_ns(histogram.max());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string bar(std::uint64_t count, std::uint64_t greatest, std::size_t room, bool unicode) {
  if (count == 0) return "";
  const double share =
      std::log2(1.0 + static_cast<double>(count)) / std::log2(1.0 + static_cast<double>(greatest));
  const auto length =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(room))));
  std::string text;
  for (std::size_t mark = 0; mark < length; ++mark) text += unicode ? "\xe2\x96\x88" : "#";
  return text;
}

}  // namespace

std::string text_histogram(const Histogram& histogram, std::size_t width, bool unicode) {
  if (histogram.count() == 0) return "";
  const std::vector<Row> rows = rows_of(histogram);
  std::uint64_t greatest = 0;
  std::size_t label_width = 9;
  for (const Row& row : rows) {
    greatest = std::max(greatest, row.count);
    label_width = std::max({label_width, row.from.size(), row.to.size()});
  }
  const std::size_t count_width = std::max<std::size_t>(7, std::to_string(greatest).size());
  const std::size_t used = 2 * label_width + 3 + count_width + 4;
  const std::size_t room = width > used + 10 ? width - used : 10;
  std::string text = right("from", label_width) + "   " + right("to", label_width) + "  " +
                     right("samples", count_width) + "  (length: logarithm of the count)\n";
  for (const Row& row : rows) {
    text += right(row.from, label_width) + " - " + right(row.to, label_width) + "  " +
            right(std::to_string(row.count), count_width);
    const std::string drawn = bar(row.count, greatest, room, unicode);
    text += drawn.empty() ? "\n" : "  " + drawn + "\n";
  }
  return text;
}

}  // namespace howlate
