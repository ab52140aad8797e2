#include "job/stop.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

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

std::uint64_t machine_clock_ns() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0, a_second = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  asm volatile("mrs %0, cntfrq_el0" : "=r"(a_second));
  constexpr std::uint64_t second_ns = 1'000'000'000;
  return count / a_second * second_ns + count % a_second * second_ns / a_second;
#else
  return 0;
#endif
}

}  // namespace howlate
