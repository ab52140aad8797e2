#include "sys/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "sys/cgroups.hpp"
#include "sys/file.hpp"
#include "sys/rights.hpp"

extern "C" char __data_start;  // the linker's: where the program's own data begin and end
extern "C" char _end;

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

namespace {

constexpr std::size_t heap_spare = std::size_t{256} << 10U;

// A sanitizer maps a shadow of terabytes: touching it would take all memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

struct Mapped {
  std::uintptr_t from = 0, to = 0;
  bool readable = false, writable = false;
};

// A line of /proc/self/maps: "55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0   [heap]".
Mapped parse_mapped(const std::string& line) {
  Mapped mapped;
  char* end = nullptr;
  mapped.from = static_cast<std::uintptr_t>(std::strtoull(line.c_str(), &end, 16));
  if (*end != '-') return {};
  mapped.to = static_cast<std::uintptr_t>(std::strtoull(end + 1, &end, 16));
  if (*end != ' ') return {};
  mapped.readable = end[1] == 'r';
  mapped.writable = end[2] == 'w';
  // The kernel's own pages ([vvar], [vdso], [vsyscall]) are not to be touched from here.
  if (line.find(" [v") != std::string::npos) return {};
  return mapped;
}

// As the kernel does it (Linux 5.14); by hand before, and only in memory of its own and in the program: another
// file may have become shorter than its mapping.
__attribute__((no_sanitize("address", "thread"))) void touch(const Mapped& mapped, bool own) {
#ifdef MADV_POPULATE_READ
  if (::madvise(reinterpret_cast<void*>(mapped.from), mapped.to - mapped.from,
                mapped.writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0 ||
      errno != EINVAL)
    return;
#endif
  if (!own) return;
  for (std::uintptr_t at = mapped.from; at < mapped.to; at += 4096) {
    auto* const byte = reinterpret_cast<unsigned char*>(at);
    if (mapped.writable)
      __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);  // changes nothing, whoever else writes there
    else
      static_cast<void>(__atomic_load_n(byte, __ATOMIC_RELAXED));
  }
}

}  // namespace

void touch_mapped() {
  if constexpr (is_sanitized) return;
  void* volatile spare = std::malloc(heap_spare);  // volatile: the pair must not be optimised away
  std::free(spare);
  const auto maps = read_text("/proc/self/maps");
  char program[4096] = {};
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  const std::string_view own(program, length < 0 ? 0 : static_cast<std::size_t>(length));
  for (std::size_t at = 0; maps && at < maps->size();) {
    const std::size_t newline = std::min(maps->find('\n', at), maps->size());
    const std::string line = maps->substr(at, newline - at);
    at = newline + 1;
    const Mapped mapped = parse_mapped(line);
    if (!mapped.readable) continue;
    const bool anonymous = line.find('/') == std::string::npos;
    touch(mapped, anonymous || (!own.empty() && line.ends_with(own)));
  }
}

__attribute__((no_sanitize("address", "thread"))) void touch_from_here(std::span<std::byte> bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t ranges[][2] = {
      {reinterpret_cast<std::uintptr_t>(&__data_start), reinterpret_cast<std::uintptr_t>(&_end)},
      {first, first + bytes.size()}};
  for (const auto& [from, to] : ranges)
    for (std::uintptr_t at = from; at < to; at = (at | 4095U) + 1)
      __atomic_fetch_or(reinterpret_cast<unsigned char*>(at), 0, __ATOMIC_RELAXED);
}

MemoryLock MemoryLock::take(const Root& root) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const Caller caller = read_caller(root);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY || caller.has(Capability::ipc_lock);
  if (::mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) == 0)
    return {unlimited ? "all" : "present", ""};
  const int error = errno;
  return {"none", "memory is not locked (" + errno_text(error) + "), so page faults can make it late: " +
                      (caller.can_be_granted(Capability::ipc_lock)
                           ? "raise 'ulimit -l' (memlock) or grant CAP_IPC_LOCK"
                           : "start the container with '--cap-add IPC_LOCK --ulimit memlock=-1'")};
}

MemoryLock::~MemoryLock() {
  if (scope_ != "none") ::munlockall();
}

std::int64_t memory_available(const Root& root) {
  const auto text = root.read_text("/proc/meminfo");
  std::size_t at = text ? text->find("MemAvailable:") : std::string::npos;
  if (text && at == std::string::npos) at = text->find("MemFree:");  // before Linux 3.14
  if (at == std::string::npos) return 0;
  const std::size_t digits = text->find_first_of("0123456789", at);
  if (digits == std::string::npos) return 0;
  std::int64_t kib = 0;
  std::from_chars(text->data() + digits, text->data() + text->size(), kib);
  return std::min(kib * 1024, cgroup_memory_room(Root(root.at("/"))).value_or(INT64_MAX));
}

Status check_available(std::string_view need, double bytes, std::int64_t available_bytes,
                       std::string remedy) {
  constexpr double most = 0.8;
  constexpr double mib = 1 << 20;
  const auto available = static_cast<double>(available_bytes);
  if (available_bytes == 0 || bytes <= most * available) return {};
  return not_possible(std::string(need) + ' ' + std::to_string(static_cast<std::int64_t>(bytes / mib)) +
                          " MiB, and " + std::to_string(static_cast<std::int64_t>(available / mib)) +
                          " MiB are available",
                      std::move(remedy));
}

std::optional<std::int64_t> out_of_memory_kills(const Root& root) {
  constexpr std::string_view key = "\noom_kill ";
  const auto text = root.read_text("/proc/vmstat");
  const std::size_t at = text ? text->find(key) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  std::int64_t kills = 0;
  std::from_chars(text->data() + at + key.size(), text->data() + text->size(), kills);
  return kills;
}

}  // namespace howlate
