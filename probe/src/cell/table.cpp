#include "cell/table.hpp"

#include <algorithm>
#include <utility>

namespace howlate {

BatchWriter::BatchWriter(std::uint16_t id, std::span<const ColumnSpec> columns, std::size_t rows_max)
    : id_(id) {
  for (const ColumnSpec& column : columns) types_.push_back(column.type);
  frame_.reserve(256 + columns.size() * (rows_max * sizeof(std::int64_t) + 8));
}

bool BatchWriter::put(Sink& sink, std::span<const std::span<const std::int64_t>> columns, Totals account) {
  const auto rows = static_cast<std::int64_t>(columns.front().size());
  account.recorded = kept_ + rows;
  frame_.clear();
  StreamEncoder::batch(frame_, id_, account, types_, columns);
  const bool kept = sink.put(frame_);
  (kept ? kept_ : lost_) += rows;
  return kept;
}

TableWriter::TableWriter(std::uint16_t id, std::span<const ColumnSpec> columns, std::size_t rows_max)
    : batches_(id, columns, std::min(rows_max, batch_rows)),
      rows_max_(rows_max),
      columns_(columns.size(), std::vector<std::int64_t>(rows_max, 0)),
      spans_(columns.size()) {}

void TableWriter::add(std::initializer_list<std::int64_t> row) {
  auto column = columns_.begin();
  for (const std::int64_t value : row) (*column++)[rows_] = value;
  ++rows_;
}

bool TableWriter::flush(Sink& sink, Totals account) {
  const std::size_t all = std::exchange(rows_, 0);
  bool kept = true;
  for (std::size_t from = 0; from < all; from += batch_rows) {
    const std::size_t many = std::min(batch_rows, all - from);
    for (std::size_t i = 0; i < columns_.size(); ++i) spans_[i] = std::span(columns_[i]).subspan(from, many);
    kept = batches_.put(sink, spans_, account) && kept;
  }
  return kept;
}

}  // namespace howlate
