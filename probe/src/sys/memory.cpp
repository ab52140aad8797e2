#include "sys/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <charconv>

#include "sys/file.hpp"
#include "sys/rights.hpp"

namespace howlate {

Result<TouchedPages> TouchedPages::make(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  TouchedPages pages;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return not_possible(
        "cannot have " + std::to_string(bytes >> 20U) + " MiB for samples: " + errno_text(errno),
        "Ask for a shorter run or a longer period, or raise 'ulimit -l' and 'ulimit -v'");
  pages.at_ = at;
  pages.bytes_ = bytes;
  for (std::size_t offset = 0; offset < bytes; offset += page)
    __atomic_store_n(static_cast<char*>(at) + offset, 0, __ATOMIC_RELAXED);
  return pages;
}

TouchedPages::~TouchedPages() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

void keep_heap_together() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_MMAP_MAX, 0);
}

MemoryLock MemoryLock::take(const Root& root) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY || has_capability(root, Capability::ipc_lock);
  if (::mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) == 0)
    return {unlimited ? "all" : "present", ""};
  return {"none",
          "memory is not locked (" + errno_text(errno) +
              "), so page faults can make it late: raise 'ulimit -l' (memlock) or grant CAP_IPC_LOCK"};
}

MemoryLock::~MemoryLock() {
  if (scope_ != "none") ::munlockall();
}

std::int64_t memory_available(const Root& root) {
  const auto text = read_text(root.at("/proc/meminfo"));
  const std::size_t at = text ? text->find("MemAvailable:") : std::string::npos;
  if (at == std::string::npos) return 0;
  const std::size_t digits = text->find_first_of("0123456789", at);
  if (digits == std::string::npos) return 0;
  std::int64_t kib = 0;
  std::from_chars(text->data() + digits, text->data() + text->size(), kib);
  return kib * 1024;
}

}  // namespace howlate
