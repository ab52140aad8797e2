// A small whole stream, made and not stored: what the unit tests alter and the fuzzer begins from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../unit/core/random.hpp"
#include "core/stream.hpp"

namespace howlate::example {

using Bytes = std::vector<std::byte>;

inline constexpr std::array types = {ColumnType::i64, ColumnType::i32, ColumnType::u8};
inline constexpr std::string_view header_text =
    R"({"stream": 1, "probe": "0", "test": "cyclic", "tables": [{"id": 0, "name": "samples", "cpu": 1, "columns": )"
    R"([{"name": "latency_ns", "type": "i64"}, {"name": "cpu", "type": "i32"}, {"name": "flags", "type": "u8"}]}]})";

struct Rows {
  std::array<std::vector<std::int64_t>, 3> columns;
  explicit Rows(std::size_t count, std::uint64_t seed) {
    SplitMix random(seed);
    for (std::size_t row = 0; row < count; ++row) {
      columns[0].push_back(static_cast<std::int64_t>(random.next()));
      columns[1].push_back(static_cast<std::int32_t>(random.next()));
      columns[2].push_back(static_cast<std::uint8_t>(random.next()));
    }
  }
  void put(Bytes& out, const Totals& totals) const {
    const std::array<std::span<const std::int64_t>, 3> spans = {columns[0], columns[1], columns[2]};
    StreamEncoder::batch(out, 0, totals, types, spans);
  }
};

inline Totals totals(std::int64_t recorded, std::int64_t overruns, std::int64_t dropped) {
  return {.releases = recorded + overruns + dropped,
          .recorded = recorded,
          .overruns = overruns,
          .dropped = dropped};
}

// Three batches, two overruns, one drop; `ends` are the lengths at which whole frames end.
struct Example {
  Bytes bytes;
  std::vector<std::size_t> ends;

  Example() {
    StreamEncoder::magic(bytes);
    mark();
    StreamEncoder::header(bytes, header_text);
    mark();
    Rows(5, 1).put(bytes, totals(5, 0, 0));
    mark();
    Rows(1, 2).put(bytes, totals(6, 2, 0));
    mark();
    Rows(8, 3).put(bytes, totals(14, 2, 1));
    mark();
    StreamEncoder::trailer(
        bytes,
        R"({"stop_reason": "activations", "accounting": [{"table": 0, "releases": 18, "recorded": 14, )"
        R"("overruns": 3, "dropped": 1}]})");
    mark();
  }
  void mark() { ends.push_back(bytes.size()); }
};

}  // namespace howlate::example
