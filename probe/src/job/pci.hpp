// A PCI device without a driver: found and mapped through /sys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// The folder of the first device (by address) with this vendor and device number; an error if there is none.
Result<std::string> find_pci(const Root& root, std::uint32_t vendor, std::uint32_t device);

// A base address register's memory, mapped for reading and writing.
class PciMemory {
 public:
  // Takes the device from its driver, if it has one, and switches it on first.
  static Result<PciMemory> map(const std::string& folder, std::size_t bar);
  PciMemory(PciMemory&& other) noexcept
      : mapped_(std::exchange(other.mapped_, nullptr)),
        mapped_bytes_(other.mapped_bytes_),
        offset_(other.offset_),
        bytes_(other.bytes_) {}
  PciMemory& operator=(PciMemory&&) = delete;
  PciMemory(const PciMemory&) = delete;
  PciMemory& operator=(const PciMemory&) = delete;
  ~PciMemory();

  // The device's side sees each access: it is made as it is written, hence volatile.
  [[nodiscard]] volatile std::uint8_t* at() const { return static_cast<std::uint8_t*>(mapped_) + offset_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  PciMemory(void* mapped, std::size_t mapped_bytes, std::size_t offset, std::size_t bytes)
      : mapped_(mapped), mapped_bytes_(mapped_bytes), offset_(offset), bytes_(bytes) {}

  void* mapped_;
  std::size_t mapped_bytes_, offset_, bytes_;
};

}  // namespace howlate
