// The probe's stream: append-only, self-describing, readable up to its last whole batch wherever it is cut.
// The format, byte by byte: docs/stream.md. Encoding is pure (bytes into a buffer); writing them is the caller's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

enum class ColumnType : std::uint8_t { i64, i32, u8 };

struct ColumnSpec {
  std::string_view name;  // carries its unit: "latency_ns"
  ColumnType type;
  std::string_view help;
};

// The account of one table up to and including its last row; zeros for tables that are not of activations.
struct Totals {
  std::int64_t releases = 0;
  std::int64_t recorded = 0;
  std::int64_t overruns = 0;
  std::int64_t dropped = 0;
  [[nodiscard]] bool balanced() const { return releases == recorded + overruns + dropped; }
};

// Appends frames to `out`. A column is given as its rows in 64 bits and is narrowed to its type.
class StreamEncoder {
 public:
  static void magic(std::vector<std::byte>& out);
  static void header(std::vector<std::byte>& out, std::string_view json);
  static void trailer(std::vector<std::byte>& out, std::string_view json);
  // All columns have the same number of rows.
  static void batch(std::vector<std::byte>& out, std::uint16_t table, const Totals& totals,
                    std::span<const ColumnType> types, std::span<const std::span<const std::int64_t>> columns);
};

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace howlate
