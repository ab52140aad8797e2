// A stream with its magic and every checksum put right, as far as its lengths go.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace howlate {

std::vector<std::byte> mended(std::span<const std::byte> bytes);

}  // namespace howlate
