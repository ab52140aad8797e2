#include "sys/rights.hpp"

#include <charconv>
#include <cstdint>

#include "sys/file.hpp"

namespace howlate {

bool has_capability(const Root& root, Capability capability) {
  const auto status = root.read_text("/proc/self/status");
  const std::size_t at = status ? status->find("CapEff:") : std::string::npos;
  const std::size_t digits = at == std::string::npos ? at : status->find_first_not_of(" \t", at + 7);
  if (digits == std::string::npos) return false;
  std::uint64_t mask = 0;
  std::from_chars(status->data() + digits, status->data() + status->size(), mask, 16);
  return ((mask >> static_cast<unsigned>(capability)) & 1U) != 0;
}

}  // namespace howlate
