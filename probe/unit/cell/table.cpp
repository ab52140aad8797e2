// Rows become batches that a reader takes, however many were gathered.
#include "cell/table.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cell/made_sink.hpp"
#include "core/stream_reader.hpp"

namespace howlate {
namespace {

constexpr ColumnSpec row_columns[] = {{"time_ns", ColumnType::i64, ""}, {"cpu", ColumnType::i32, ""}};

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("rows for more than a frame's bytes are written in whole batches with running totals") {
  constexpr std::size_t many = max_payload_bytes / 12 + 1;  // 12 bytes a row
  const std::string path = std::filesystem::temp_directory_path() / "howlate-unit-table";
  std::filesystem::remove(path);
  TableWriter table(3, row_columns, many);
  for (std::size_t row = 0; row < many; ++row) table.add({static_cast<std::int64_t>(row), 1});
  CHECK(table.full());
  {
    Sink sink = made_sink(path);
    CHECK(table.flush(sink));
  }
  CHECK(table.kept() == static_cast<std::int64_t>(many));
  CHECK(table.rows() == 0);
  const std::vector<std::byte> bytes = bytes_of(path);
  std::filesystem::remove(path);
  FrameReader reader(bytes);
  std::int64_t rows = 0;
  for (auto frame = reader.next(); frame; frame = reader.next()) {
    if (frame->kind != FrameKind::batch) continue;
    const auto head = read_batch_head(frame->payload);
    REQUIRE(head.has_value());
    CHECK(head->rows <= TableWriter::batch_rows);
    rows += head->rows;
    CHECK(head->totals.recorded == rows);
    CHECK(head->totals.releases == 0);
  }
  CHECK(reader.end() == StreamEnd::no_trailer);
  CHECK(rows == static_cast<std::int64_t>(many));
}

TEST_CASE("without a file every batch counts as kept") {
  TableWriter table(0, row_columns, 3 * TableWriter::batch_rows);
  for (std::size_t row = 0; row < 3 * TableWriter::batch_rows; ++row) table.add({0, 0});
  Sink nowhere;
  CHECK(table.flush(nowhere));
  CHECK(table.kept() == 3 * static_cast<std::int64_t>(TableWriter::batch_rows));
}

}  // namespace
}  // namespace howlate
