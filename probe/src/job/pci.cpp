#include "job/pci.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/text.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

std::string hexadecimal(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", number);
  return text;
}

std::vector<std::string> devices_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

struct Range {
  std::uint64_t first = 0, last = 0;
};

// Line `bar` of the file `resource`: "0xfirst 0xlast 0xflags".
Result<Range> range_of(const std::string& folder, std::size_t bar) {
  const std::string text = read_text(folder + "/resource").value_or("");
  const std::vector<std::string_view> lines = split(text, '\n');
  Range range;
  if (bar < lines.size()) {
    const std::string line(lines[bar]);
    char* rest = nullptr;
    range.first = std::strtoull(line.c_str(), &rest, 16);
    range.last = std::strtoull(rest, nullptr, 16);
  }
  if (range.last <= range.first)
    return not_possible("the PCI device " + folder + " has no memory " + std::to_string(bar));
  return range;
}

}  // namespace

Result<std::string> find_pci(const Root& root, std::uint32_t vendor, std::uint32_t device) {
  const std::string folder = root.at("/sys/bus/pci/devices");
  for (const std::string& one : devices_in(folder))
    if (read_text(one + "/vendor") == hexadecimal(vendor) &&
        read_text(one + "/device") == hexadecimal(device))
      return one;
  return not_possible("there is no PCI device " + hexadecimal(vendor) + ":" + hexadecimal(device) + " in " +
                      folder);
}

Result<PciMemory> PciMemory::map(const std::string& folder, std::size_t bar) {
  const Result<Range> range = range_of(folder, bar);
  if (!range) return range.error();
  // A driver of the kernel's would keep it from us.
  const std::string name = folder.substr(folder.rfind('/') + 1);
  if (::access((folder + "/driver").c_str(), F_OK) == 0)
    if (const Status off = write_text(folder + "/driver/unbind", name); !off) return off.error();
  if (const Status on = write_text(folder + "/enable", "1"); !on) return on.error();
  const std::string path = folder + "/resource" + std::to_string(bar);
  const Fd file(::open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC));
  if (!file.valid()) return not_possible("cannot open " + path + ": " + errno_text(errno));
  // Whole pages are mapped; a small range may begin inside one.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t offset = static_cast<std::size_t>(range->first) % page;
  const auto bytes = static_cast<std::size_t>(range->last - range->first + 1);
  const std::size_t mapped_bytes = (offset + bytes + page - 1) / page * page;
  void* const at = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return not_possible("cannot map " + path + ": " + errno_text(errno));
  return PciMemory(at, mapped_bytes, offset, bytes);
}

PciMemory::~PciMemory() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

}  // namespace howlate
