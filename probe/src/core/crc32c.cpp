// CRC32C (Castagnoli, reflected polynomial 0x82f63b78): by the processor's instruction where there is one,
// else by tables.
#include <array>
#include <bit>
#include <cstring>

#include "core/stream.hpp"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace howlate {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[slice - 1][byte];
      tables[slice][byte] = (crc >> 8U) ^ tables[0][crc & 0xffU];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

std::uint64_t load_u64(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

std::uint32_t by_byte(std::uint32_t crc, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes)
    crc = (crc >> 8U) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffU];
  return crc;
}

std::uint32_t by_tables(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = load_u64(bytes.data() + at) ^ crc;
    crc = 0;
    for (std::size_t slice = 0; slice < 8; ++slice) crc ^= tables[7 - slice][(word >> (8 * slice)) & 0xffU];
  }
  return by_byte(crc, bytes.subspan(at));
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t crc,
                                                               std::span<const std::byte> bytes) {
  std::uint64_t wide = crc;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) wide = _mm_crc32_u64(wide, load_u64(bytes.data() + at));
  return by_byte(static_cast<std::uint32_t>(wide), bytes.subspan(at));
}
bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
std::uint32_t by_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) crc = __crc32cd(crc, load_u64(bytes.data() + at));
  return by_byte(crc, bytes.subspan(at));
}
bool has_instruction() {
  return true;
}
#else
std::uint32_t by_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return by_tables(crc, bytes);
}
bool has_instruction() {
  return false;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  return ~(has_instruction() ? by_instruction(~seed, bytes) : by_tables(~seed, bytes));
}

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t seed) {
  return ~by_tables(~seed, bytes);
}

}  // namespace howlate
