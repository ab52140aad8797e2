// Unpacks a gzip file (RFC 1951, 1952) in memory: /proc/config.gz is one, and the probe has no dependencies.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"

namespace howlate {

// One member; its length and CRC-32 are checked. Refuses more than `limit` bytes of output.
Result<std::string> gunzip(std::string_view packed, std::size_t limit = std::size_t{16} << 20U);

}  // namespace howlate
