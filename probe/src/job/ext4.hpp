// The first content of an ext4 file system: an empty root folder, lost+found and a journal. Pure; equal sizes
// give equal bytes. Only what a scratch disk needs: 4 KiB blocks, extents, a journal of 4 MiB, no checksums, no
// copies of the superblock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.hpp"

namespace howlate {

struct Ext4Block {
  static constexpr std::size_t bytes = 4096;
  std::uint64_t number = 0;
  std::array<std::uint8_t, bytes> data{};
};

// The blocks to write on a device of this size, ascending; all others may hold anything. From 8 MiB to 16 GiB.
Result<std::vector<Ext4Block>> make_ext4(std::uint64_t device_bytes);

}  // namespace howlate
