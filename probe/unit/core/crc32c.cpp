#include <doctest/doctest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "core/stream.hpp"

namespace howlate {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counting(int first, int step) {
  Bytes bytes;
  for (int index = 0; index < 32; ++index) bytes.push_back(static_cast<std::byte>(first + step * index));
  return bytes;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST_CASE("the checksum is CRC32C: the vectors of RFC 3720, and the check value") {
  const Bytes iscsi_read = {std::byte{0x01},
                            std::byte{0xc0},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            std::byte{0x14},
                            {},
                            {},
                            {},
                            {},
                            {},
                            std::byte{0x04},
                            {},
                            {},
                            {},
                            {},
                            std::byte{0x14},
                            {},
                            {},
                            {},
                            std::byte{0x18},
                            std::byte{0x28},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            std::byte{0x02},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {},
                            {}};
  for (const auto crc : {+[](std::span<const std::byte> bytes) { return crc32c(bytes); },
                         +[](std::span<const std::byte> bytes) { return crc32c_portable(bytes); }}) {
    CHECK(crc(Bytes(32, std::byte{0})) == 0x8a9136aaU);
    CHECK(crc(Bytes(32, std::byte{0xff})) == 0x62a8ab43U);
    CHECK(crc(counting(0, 1)) == 0x46dd794eU);
    CHECK(crc(counting(31, -1)) == 0x113fdb5cU);
    CHECK(crc(iscsi_read) == 0xd9963a56U);
    CHECK(crc(bytes_of("123456789")) == 0xe3069283U);
    CHECK(crc({}) == 0);
  }
}

TEST_CASE("the instruction and the tables agree at every length and alignment, and a sum can be continued") {
  SplitMix random(2);
  Bytes bytes(300);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  const std::span<const std::byte> all(bytes);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t length = 0; begin + length <= all.size(); length += 1 + length / 16) {
      const auto part = all.subspan(begin, length);
      REQUIRE(crc32c(part) == crc32c_portable(part));
      const std::size_t cut = length == 0 ? 0 : random.below(length);
      REQUIRE(crc32c(part.subspan(cut), crc32c(part.first(cut))) == crc32c(part));
    }
  }
}

}  // namespace
}  // namespace howlate
