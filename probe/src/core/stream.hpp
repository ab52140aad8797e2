// The probe's stream: append-only, self-describing, readable up to its last whole batch wherever it is cut.
// The format, byte by byte: docs/stream.md. Encoding is pure (bytes into a buffer); writing them is the
// caller's.
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

inline constexpr std::array<char, 8> stream_magic = {'H', 'O', 'W', 'L', 'A', 'T', 'E', 1};
inline constexpr std::size_t frame_head_bytes = 12;
inline constexpr std::size_t batch_head_bytes = 40;
inline constexpr std::size_t max_payload_bytes = std::size_t{16} << 20U;

enum class FrameKind : std::uint8_t { header = 1, batch = 2, trailer = 3 };
enum class ColumnType : std::uint8_t { i64, i32, u8 };

std::size_t column_width(ColumnType type);
// In 64 bits also where addresses have 32: a reader asks for whatever number of rows a stream claims.
std::uint64_t column_bytes(ColumnType type, std::uint64_t rows);                   // padding included
std::uint64_t batch_bytes(std::span<const ColumnType> types, std::uint64_t rows);  // the payload of a batch
std::string_view column_type_name(ColumnType type);                                // "i64"

struct ColumnSpec {
  std::string_view name;  // carries its unit: "latency_ns"
  ColumnType type;
  std::string_view help;
  // Whether it answers "how late", so that a deadline is held against it. A test of which no column does has no verdict.
  bool answers = false;
};

// The account of one table up to and including its last row; zeros for tables that are not of activations.
struct Totals {
  std::int64_t releases = 0;
  std::int64_t recorded = 0;
  std::int64_t overruns = 0;
  std::int64_t dropped = 0;
  [[nodiscard]] bool balanced() const { return releases == recorded + overruns + dropped; }
};

// Appends frames to `out`; allocates only where `out` must grow. A column is given as its rows in 64 bits and
// is narrowed to its type (the caller keeps its values within it). A payload above max_payload_bytes aborts:
// rows in batches are bounded.
class StreamEncoder {
 public:
  static void magic(std::vector<std::byte>& out);
  static void header(std::vector<std::byte>& out, std::string_view json);
  static void trailer(std::vector<std::byte>& out, std::string_view json);
  // All columns have the same number of rows.
  static void batch(std::vector<std::byte>& out, std::uint16_t table, const Totals& totals,
                    std::span<const ColumnType> types,
                    std::span<const std::span<const std::int64_t>> columns);
};

// CRC32C of `bytes`, continued from `seed` (the CRC of what came before). The portable one is what processors
// without an instruction for it run.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace howlate
