#include "job/stop.hpp"

namespace howlate {
namespace {

constexpr std::uint32_t vendor = 0x1b36, device = 0x0011;
constexpr std::uint8_t panicked = 1;

}  // namespace

Result<Stop> Stop::find(const Root& root) {
  const Result<std::string> folder = find_pci(root, vendor, device);
  if (!folder) return folder.error();
  Result<PciMemory> memory = PciMemory::map(*folder, 0);
  if (!memory) return memory.error();
  return Stop(std::move(*memory));
}

void Stop::stop() const {
  *memory_.at() = panicked;
}

}  // namespace howlate
