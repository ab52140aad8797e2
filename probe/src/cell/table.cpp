#include "cell/table.hpp"

#include <algorithm>
#include <utility>

namespace howlate {

TableWriter::TableWriter(std::uint16_t id, std::span<const ColumnSpec> columns, std::size_t rows_max)
    : id_(id), rows_max_(rows_max) {
  for (const ColumnSpec& column : columns) {
    types_.push_back(column.type);
    columns_.emplace_back(rows_max, 0);
  }
  spans_.resize(columns_.size());
  frame_.reserve(256 + columns_.size() * (std::min(rows_max, batch_rows) * sizeof(std::int64_t) + 8));
}

void TableWriter::add(std::initializer_list<std::int64_t> row) {
  auto column = columns_.begin();
  for (const std::int64_t value : row) (*column++)[rows_] = value;
  ++rows_;
}

bool TableWriter::flush(Sink& sink, Totals account) {
  const std::size_t all = std::exchange(rows_, 0);
  bool kept = true;
  for (std::size_t from = 0; from < all; from += batch_rows)
    kept = put_batch(sink, from, std::min(batch_rows, all - from), account) && kept;
  return kept;
}

bool TableWriter::put_batch(Sink& sink, std::size_t from, std::size_t many, Totals account) {
  const auto rows = static_cast<std::int64_t>(many);
  account.recorded = kept_ + rows;
  for (std::size_t i = 0; i < columns_.size(); ++i) spans_[i] = std::span(columns_[i]).subspan(from, many);
  frame_.clear();
  StreamEncoder::batch(frame_, id_, account, types_, spans_);
  const bool kept = sink.put(frame_);
  (kept ? kept_ : lost_) += rows;
  return kept;
}

}  // namespace howlate
