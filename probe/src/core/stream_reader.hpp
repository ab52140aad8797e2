// Reading and checking a stream (docs/stream.md), whatever was done to it: cut, altered or made up. Never
// reads beyond its bytes, refuses frames above max_payload_bytes, and says in a sentence what is wrong and at
// which byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/stream.hpp"

namespace howlate {

// A frame with correct length and checksum; `payload` points into the bytes that were read.
struct Frame {
  FrameKind kind;
  std::uint16_t table;
  std::size_t offset;  // of its first byte in the stream
  std::span<const std::byte> payload;
};

// The head of a batch.
struct BatchHead {
  std::uint32_t rows;
  Totals totals;
};

enum class StreamEnd {
  trailer,     // whole: the probe ended by itself
  no_trailer,  // cut between two frames, as after a kill -9
  cut,         // cut within a frame; everything before it holds
  damaged,     // bytes that are not a stream's; everything before them holds
};

// Walks the frames of a stream in memory: call next() until it returns nothing, then end() and problem().
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> bytes);

  std::optional<Frame> next();
  [[nodiscard]] StreamEnd end() const { return end_; }
  [[nodiscard]] const std::string& problem() const {
    return problem_;
  }  // a sentence, or "" for trailer and no_trailer
  [[nodiscard]] std::size_t offset() const {
    return at_;
  }  // the first byte that is not part of a whole frame

 private:
  std::optional<Frame> stop(StreamEnd end, std::string problem);
  std::optional<Frame> whole_frame(std::size_t length);
  bool order_holds(FrameKind kind, std::string& why) const;

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool header_seen_ = false;
  bool trailer_seen_ = false;
  bool stopped_ = false;
  StreamEnd end_ = StreamEnd::no_trailer;
  std::string problem_;
};

// The rows and totals of a batch's payload, or nothing if it is too short for a head.
std::optional<BatchHead> read_batch_head(std::span<const std::byte> payload);

// The columns of a batch, widened to 64 bits, or nothing if the payload's length does not fit its rows.
std::optional<std::vector<std::vector<std::int64_t>>> read_columns(std::span<const std::byte> payload,
                                                                   std::span<const ColumnType> types);

}  // namespace howlate
