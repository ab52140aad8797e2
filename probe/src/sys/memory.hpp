// Memory that a measuring thread may touch without a page fault: mapped, touched, locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// Pages of zeros that have been touched; released by the destructor.
class TouchedPages {
 public:
  TouchedPages() = default;
  static Result<TouchedPages> make(std::size_t bytes);
  TouchedPages(TouchedPages&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  TouchedPages& operator=(TouchedPages&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;
  ~TouchedPages();

  // As many T as fit. All-zero bytes must be a valid T.
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    return {static_cast<T*>(at_), bytes_ / sizeof(T)};
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

// How the C library keeps memory from now on: one heap that is never given back and never mapped in pieces, so that what has been
// touched stays touched. (An arena for each thread would also count 64 MiB against a limited lock.) Before any thread starts.
void keep_heap_together();

// Touches every page that is mapped now, for writing where that is allowed, so that no thread of this process
// has a first touch (or, after a fork, a copy-on-write) left: what a lock does, where memory cannot be locked.
// Also a reserve of the heap, for what the ways to sleep allocate while they set up.
void touch_mapped();

// Writes to every page of `bytes` and of the program's own data, from the calling thread, and changes nothing there.
//
// touch_mapped() makes pages writable for the whole process, but a CPU that read one before keeps the old right in
// its TLB (Linux does not interrupt it for a right that grew), and its first write is a fault of its own: seen here
// in 1 of 40 runs. Only a write from that CPU mends it.
void touch_from_here(std::span<std::byte> bytes);

// mlockall for as long as it lives. Where the lock is limited (RLIMIT_MEMLOCK) only what is mapped now is
// locked: a lock of the future would make later allocations fail.
class MemoryLock {
 public:
  static MemoryLock take(const Root& root = {});
  MemoryLock(MemoryLock&& other) noexcept
      : scope_(std::exchange(other.scope_, "none")), why_(std::move(other.why_)) {}
  MemoryLock& operator=(MemoryLock&&) = delete;
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  ~MemoryLock();

  [[nodiscard]] std::string_view scope() const { return scope_; }    // "all", "present" or "none"
  [[nodiscard]] const std::string& why_not() const { return why_; }  // a sentence where it is "none"

 private:
  MemoryLock(std::string_view scope, std::string why) : scope_(scope), why_(std::move(why)) {}
  std::string_view scope_;
  std::string why_;
};

// Bytes available without swapping: MemAvailable, or less if a memory limit of the caller's cgroups leaves less.
// 0 = unknown.
std::int64_t memory_available(const Root& root);
// Refuses what would take more than four fifths of the available bytes (0: unknown, which refuses nothing). `need` begins
// the sentence: "100 points need".
Status check_available(std::string_view need, double bytes, std::int64_t available_bytes, std::string remedy);
// How many processes the kernel's out-of-memory killer has ended since boot, in any group; nothing before Linux 4.13.
std::optional<std::int64_t> out_of_memory_kills(const Root& root);

}  // namespace howlate
