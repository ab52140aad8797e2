// A tree of files as one run of bytes (docs/job.md): what a guest hands over. Pure.
//
// For each file, in the order of the bytes of its name: u32 length of the name, u32 CRC32C of the data, u64
// size of the data, the name padded with zeros to 8, the data padded to 8. Little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace howlate {

class TreeWriter {
 public:
  // Takes pieces of any length, in order; false: it has no more room.
  using Take = std::function<bool(std::span<const std::byte>)>;
  explicit TreeWriter(Take take) : take_(std::move(take)) {}

  // Names come in ascending order. False where there was no room.
  bool add(std::string_view name, std::span<const std::byte> data);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint32_t crc() const { return crc_; }

 private:
  bool put(std::span<const std::byte> bytes);
  bool put_padded(std::span<const std::byte> bytes);

  Take take_;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0;
};

// The regular files below the folder by their names from there ("0/stdout"), in the order of their bytes.
Result<std::vector<std::string>> files_below(const std::string& folder);

// All of them into the writer.
Status pack_folder(const std::string& folder, TreeWriter& writer);

}  // namespace howlate
