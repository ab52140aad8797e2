#include "core/stream_reader.hpp"

#include <algorithm>

namespace howlate {

namespace {

template <class Unsigned>
Unsigned load(std::span<const std::byte> bytes, std::size_t at) {
  Unsigned value = 0;
  for (std::size_t byte = 0; byte < sizeof(Unsigned); ++byte) {
    value = static_cast<Unsigned>(
        value | static_cast<Unsigned>(std::to_integer<Unsigned>(bytes[at + byte]) << (8 * byte)));
  }
  return value;
}

std::int64_t load_i64(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::int64_t>(load<std::uint64_t>(bytes, at));
}

std::string at_byte(std::size_t offset) {
  return " at byte " + std::to_string(offset);
}

std::vector<std::int64_t> widened(std::span<const std::byte> column, ColumnType type, std::size_t rows) {
  std::vector<std::int64_t> values(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    switch (type) {
      case ColumnType::i64:
        values[row] = load_i64(column, 8 * row);
        break;
      case ColumnType::i32:
        values[row] = static_cast<std::int32_t>(load<std::uint32_t>(column, 4 * row));
        break;
      case ColumnType::u8:
        values[row] = std::to_integer<std::int64_t>(column[row]);
        break;
    }
  }
  return values;
}

}  // namespace

FrameReader::FrameReader(std::span<const std::byte> bytes) : bytes_(bytes) {
  const std::size_t known = std::min(bytes.size(), stream_magic.size());
  const bool same =
      std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(known), stream_magic.begin(),
                 [](std::byte left, char right) { return left == static_cast<std::byte>(right); });
  if (same && known == stream_magic.size()) {
    at_ = known;
  } else if (same) {
    stop(StreamEnd::cut, "the file ends before its first eight bytes: there is no stream in it");
  } else if (known == stream_magic.size() && std::equal(stream_magic.begin(), stream_magic.end() - 1,
                                                        reinterpret_cast<const char*>(bytes.data()))) {
    stop(StreamEnd::damaged, "this is a stream of format " + std::to_string(std::to_integer<int>(bytes[7])) +
                                 ", and this probe reads format " + std::to_string(stream_magic.back()));
  } else {
    stop(StreamEnd::damaged, "the file does not begin as a stream does");
  }
}

std::optional<Frame> FrameReader::stop(StreamEnd end, std::string problem) {
  stopped_ = true;
  end_ = end;
  problem_ = std::move(problem);
  return std::nullopt;
}

bool FrameReader::order_holds(FrameKind kind, std::string& why) const {
  if (trailer_seen_) why = "a frame follows the trailer";
  if (!header_seen_ && kind != FrameKind::header) why = "the first frame is not the header";
  if (header_seen_ && kind == FrameKind::header) why = "there is a second header";
  return why.empty();
}

// The frame at at_ whose head and payload are there; its checksum and order are still to be checked.
std::optional<Frame> FrameReader::whole_frame(std::size_t length) {
  const auto head = bytes_.subspan(at_, frame_head_bytes);
  const auto payload = bytes_.subspan(at_ + frame_head_bytes, length);
  if (crc32c(payload, crc32c(head.first(8))) != load<std::uint32_t>(head, 8)) {
    return stop(StreamEnd::damaged, "the frame" + at_byte(at_) + " was altered: its checksum does not hold");
  }
  const auto kind = std::to_integer<std::uint8_t>(head[4]);
  if (kind < 1 || kind > 3 || head[5] != std::byte{0}) {
    return stop(StreamEnd::damaged,
                "the frame" + at_byte(at_) + " is of the unknown kind " + std::to_string(kind));
  }
  const Frame frame{static_cast<FrameKind>(kind), load<std::uint16_t>(head, 6), at_, payload};
  std::string why;
  if (!order_holds(frame.kind, why)) return stop(StreamEnd::damaged, why + at_byte(at_));
  return frame;
}

std::optional<Frame> FrameReader::next() {
  if (stopped_) return std::nullopt;
  const std::size_t left = bytes_.size() - at_;
  if (left == 0 && !header_seen_) return stop(StreamEnd::cut, "the stream is cut before its header");
  if (left == 0) return stop(trailer_seen_ ? StreamEnd::trailer : StreamEnd::no_trailer, "");
  if (left < frame_head_bytes)
    return stop(StreamEnd::cut, "the stream is cut within the head of the frame" + at_byte(at_));
  const std::size_t length = load<std::uint32_t>(bytes_, at_);
  if (length > max_payload_bytes) {
    return stop(StreamEnd::damaged, "the frame" + at_byte(at_) + " claims " + std::to_string(length) +
                                        " bytes, more than a frame may have");
  }
  if (length > left - frame_head_bytes) {
    return stop(StreamEnd::cut, "the stream is cut within the frame" + at_byte(at_));
  }
  std::optional<Frame> frame = whole_frame(length);
  if (!frame) return frame;
  header_seen_ = true;
  trailer_seen_ = frame->kind == FrameKind::trailer;
  at_ += frame_head_bytes + length;
  return frame;
}

std::optional<BatchHead> read_batch_head(std::span<const std::byte> payload) {
  if (payload.size() < batch_head_bytes) return std::nullopt;
  BatchHead head{load<std::uint32_t>(payload, 0), {}};
  head.totals.recorded = load_i64(payload, 8);
  head.totals.releases = load_i64(payload, 16);
  head.totals.overruns = load_i64(payload, 24);
  head.totals.dropped = load_i64(payload, 32);
  return head;
}

std::optional<std::vector<std::vector<std::int64_t>>> read_columns(std::span<const std::byte> payload,
                                                                   std::span<const ColumnType> types) {
  const std::optional<BatchHead> head = read_batch_head(payload);
  if (!head) return std::nullopt;
  if (payload.size() != batch_bytes(types, head->rows)) return std::nullopt;
  std::vector<std::vector<std::int64_t>> columns;
  std::size_t at = batch_head_bytes;
  for (const ColumnType type : types) {
    const auto bytes = static_cast<std::size_t>(column_bytes(type, head->rows));
    columns.push_back(widened(payload.subspan(at, bytes), type, head->rows));
    at += bytes;
  }
  return columns;
}

}  // namespace howlate
