#include "core/stream.hpp"

#include <cstdio>
#include <cstdlib>

namespace howlate {

namespace {

void put(std::vector<std::byte>& out, std::uint64_t value, std::size_t width) {
  for (std::size_t byte = 0; byte < width; ++byte) out.push_back(static_cast<std::byte>(value >> (8 * byte)));
}

void put_at(std::vector<std::byte>& out, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t byte = 0; byte < width; ++byte)
    out[at + byte] = static_cast<std::byte>(value >> (8 * byte));
}

// Opens a frame whose length and checksum end_frame() fills in; returns where it begins.
std::size_t begin_frame(std::vector<std::byte>& out, FrameKind kind, std::uint16_t table) {
  const std::size_t at = out.size();
  put(out, 0, 4);
  put(out, static_cast<std::uint8_t>(kind), 1);
  put(out, 0, 1);
  put(out, table, 2);
  put(out, 0, 4);
  return at;
}

void end_frame(std::vector<std::byte>& out, std::size_t at) {
  const std::size_t length = out.size() - at - frame_head_bytes;
  if (length > max_payload_bytes) {
    std::fprintf(stderr, "howlate-probe: a frame of %zu bytes is more than the stream allows\n", length);
    std::abort();
  }
  put_at(out, at, length, 4);
  const std::span<const std::byte> whole(out);
  const std::uint32_t head = crc32c(whole.subspan(at, 8));
  put_at(out, at + 8, crc32c(whole.subspan(at + frame_head_bytes, length), head), 4);
}

void text_frame(std::vector<std::byte>& out, FrameKind kind, std::string_view json) {
  const std::size_t at = begin_frame(out, kind, 0);
  const auto bytes = std::as_bytes(std::span<const char>(json.data(), json.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
  end_frame(out, at);
}

template <std::size_t width>
void store_rows(std::byte* to, std::span<const std::int64_t> rows) {
  for (const std::int64_t row : rows) {
    const auto value = static_cast<std::uint64_t>(row);
    for (std::size_t byte = 0; byte < width; ++byte) *to++ = static_cast<std::byte>(value >> (8 * byte));
  }
}

void put_column(std::vector<std::byte>& out, ColumnType type, std::span<const std::int64_t> rows) {
  const std::size_t at = out.size();
  out.resize(at +
             static_cast<std::size_t>(column_bytes(type, rows.size())));  // zeros, so the padding is zero
  std::byte* to = out.data() + at;
  switch (type) {
    case ColumnType::i64:
      return store_rows<8>(to, rows);
    case ColumnType::i32:
      return store_rows<4>(to, rows);
    case ColumnType::u8:
      return store_rows<1>(to, rows);
  }
}

}  // namespace

std::size_t column_width(ColumnType type) {
  switch (type) {
    case ColumnType::i64:
      return 8;
    case ColumnType::i32:
      return 4;
    case ColumnType::u8:
      return 1;
  }
  return 0;
}

std::uint64_t column_bytes(ColumnType type, std::uint64_t rows) {
  return (column_width(type) * rows + 7) / 8 * 8;
}

std::uint64_t batch_bytes(std::span<const ColumnType> types, std::uint64_t rows) {
  std::uint64_t bytes = batch_head_bytes;
  for (const ColumnType type : types) bytes += column_bytes(type, rows);
  return bytes;
}

std::string_view column_type_name(ColumnType type) {
  switch (type) {
    case ColumnType::i64:
      return "i64";
    case ColumnType::i32:
      return "i32";
    case ColumnType::u8:
      return "u8";
  }
  return "";
}

void StreamEncoder::magic(std::vector<std::byte>& out) {
  for (const char letter : stream_magic) out.push_back(static_cast<std::byte>(letter));
}

void StreamEncoder::header(std::vector<std::byte>& out, std::string_view json) {
  text_frame(out, FrameKind::header, json);
}
void StreamEncoder::trailer(std::vector<std::byte>& out, std::string_view json) {
  text_frame(out, FrameKind::trailer, json);
}

void StreamEncoder::batch(std::vector<std::byte>& out, std::uint16_t table, const Totals& totals,
                          std::span<const ColumnType> types,
                          std::span<const std::span<const std::int64_t>> columns) {
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  const std::size_t at = begin_frame(out, FrameKind::batch, table);
  put(out, rows, 4);
  put(out, 0, 4);
  for (const std::int64_t total : {totals.recorded, totals.releases, totals.overruns, totals.dropped}) {
    put(out, static_cast<std::uint64_t>(total), 8);
  }
  for (std::size_t column = 0; column < columns.size(); ++column)
    put_column(out, types[column], columns[column]);
  end_frame(out, at);
}

}  // namespace howlate
