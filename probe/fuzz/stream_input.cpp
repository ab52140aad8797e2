#include "stream_input.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/json_read.hpp"
#include "core/stream_check.hpp"

namespace howlate {

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the reader of streams broke its promise: %s\n", what);
  std::abort();
}

void check_frame(const Frame& frame, std::span<const std::byte> bytes) {
  must(frame.payload.size() <= max_payload_bytes, "a payload is above the limit");
  must(frame.offset + frame_head_bytes + frame.payload.size() <= bytes.size(),
       "a frame ends beyond the bytes");
  must(frame.payload.empty() || frame.payload.data() == bytes.data() + frame.offset + frame_head_bytes,
       "a payload is elsewhere");
  constexpr ColumnType types[] = {ColumnType::i64, ColumnType::i32, ColumnType::u8};
  for (std::size_t columns = 0; columns <= 3; ++columns) {
    const auto read = read_columns(frame.payload, std::span(types).first(columns));
    if (!read) continue;
    must(read->size() == columns, "columns are missing");
    for (const auto& column : *read)
      must(column.size() == read_batch_head(frame.payload)->rows, "rows are missing");
  }
}

}  // namespace

void read_stream_input(std::span<const std::byte> bytes) {
  FrameReader reader(bytes);
  std::size_t before = 0;
  while (const std::optional<Frame> frame = reader.next()) {
    must(reader.offset() > before, "the reader does not go on");
    before = reader.offset();
    check_frame(*frame, bytes);
  }
  must(reader.offset() <= bytes.size(), "the reader is beyond the bytes");
  must(!reader.next().has_value(), "a frame follows the end");
  must(reader.problem().empty() ==
           (reader.end() == StreamEnd::trailer || reader.end() == StreamEnd::no_trailer),
       "an end without a word");

  const StreamReport report = check_stream(bytes);
  must(report.whole_bytes <= reader.offset(), "more is whole than was read");
  must(!report.sound() || report.whole_bytes == bytes.size(), "a sound stream has bytes left over");
  must(!describe(report).empty(), "nothing is said");
  static_cast<void>(JsonValue::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
}

}  // namespace howlate
