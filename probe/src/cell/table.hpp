// Rows of one of the stream's tables, gathered by column and written as batches. All memory is allocated at the
// start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "cell/sink.hpp"
#include "core/stream.hpp"

namespace howlate {

// Batches of one table. Rows that could not be kept are lost(), the others kept().
class BatchWriter {
 public:
  // Allocates all memory for batches of up to `rows_max` rows.
  BatchWriter(std::uint16_t id, std::span<const ColumnSpec> columns, std::size_t rows_max);

  // One batch; `account` is that of its last row, and its `recorded` is filled in here. False when it was not kept.
  bool put(Sink& sink, std::span<const std::span<const std::int64_t>> columns, Totals account);

  [[nodiscard]] std::int64_t kept() const { return kept_; }
  [[nodiscard]] std::int64_t lost() const { return lost_; }

 private:
  std::uint16_t id_;
  std::int64_t kept_ = 0;
  std::int64_t lost_ = 0;
  std::vector<ColumnType> types_;
  std::vector<std::byte> frame_;
};

class TableWriter {
 public:
  // The most rows of one batch, so that none comes near the stream's bound on a frame.
  static constexpr std::size_t batch_rows = 4096;
  // The memory of this many rows until they are written, in bytes.
  static std::size_t memory_bytes(std::span<const ColumnSpec> columns, std::size_t rows_max) {
    return columns.size() * rows_max * sizeof(std::int64_t);
  }

  TableWriter(std::uint16_t id, std::span<const ColumnSpec> columns, std::size_t rows_max);

  [[nodiscard]] bool full() const { return rows_ == rows_max_; }
  [[nodiscard]] std::size_t room() const { return rows_max_ - rows_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }  // gathered, not yet written
  // One value a column. Not to be called when full().
  void add(std::initializer_list<std::int64_t> row);

  // Writes what has been gathered, in batches. Rows that could not be kept are lost(), the others kept().
  // `account` is that of the last row, so more than batch_rows come without one; its `recorded` is filled in
  // here. False when a batch was not kept.
  bool flush(Sink& sink, Totals account = {});

  [[nodiscard]] std::int64_t kept() const { return batches_.kept(); }
  [[nodiscard]] std::int64_t lost() const { return batches_.lost(); }

 private:
  BatchWriter batches_;
  std::size_t rows_max_;
  std::size_t rows_ = 0;
  std::vector<std::vector<std::int64_t>> columns_;
  std::vector<std::span<const std::int64_t>> spans_;
};

}  // namespace howlate
