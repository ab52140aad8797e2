#include "mend.hpp"

#include <algorithm>
#include <cstdint>

#include "core/stream.hpp"

namespace howlate {

std::vector<std::byte> mended(std::span<const std::byte> bytes) {
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at < std::min(result.size(), stream_magic.size()); ++at) {
    result[at] = static_cast<std::byte>(stream_magic[at]);
  }
  const std::span<std::byte> all(result);
  for (std::size_t at = stream_magic.size(); at + frame_head_bytes <= all.size();) {
    std::size_t length = 0;
    for (std::size_t byte = 0; byte < 4; ++byte)
      length |= std::to_integer<std::size_t>(all[at + byte]) << (8 * byte);
    if (length > all.size() - at - frame_head_bytes) break;
    const std::uint32_t crc = crc32c(all.subspan(at + frame_head_bytes, length), crc32c(all.subspan(at, 8)));
    for (std::size_t byte = 0; byte < 4; ++byte)
      all[at + 8 + byte] = static_cast<std::byte>(crc >> (8 * byte));
    at += frame_head_bytes + length;
  }
  return result;
}

}  // namespace howlate
