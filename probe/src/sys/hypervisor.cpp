#include "sys/hypervisor.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <array>
#include <cstring>

#include "sys/root.hpp"

namespace howlate {

std::string cpuid_hypervisor() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & (1U << 31U)) == 0) return {};
  __cpuid(0x40000000U, eax, ebx, ecx, edx);
  std::array<char, 13> name{};
  std::memcpy(name.data(), &ebx, 4);
  std::memcpy(name.data() + 4, &ecx, 4);
  std::memcpy(name.data() + 8, &edx, 4);
  const std::string text = trimmed(name.data());
  return text.empty() ? "unnamed" : text;
#else
  return {};
#endif
}

}  // namespace howlate
