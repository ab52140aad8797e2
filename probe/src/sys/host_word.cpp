#include "sys/host_word.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "sys/file.hpp"

namespace howlate {
namespace {

std::byte* map_words() {
  const char* const path = std::getenv(window_variable);
  if (path == nullptr) return nullptr;
  const Fd file(::open(path, O_RDWR | O_SYNC | O_CLOEXEC));
  if (!file.valid()) return nullptr;
  constexpr std::size_t bytes = host_words_at + host_words_max * sizeof(std::int64_t);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at) + host_words_at;
}

}  // namespace

std::atomic<std::int64_t>* take_host_word() {
  static std::byte* const words = map_words();
  static std::atomic<std::size_t> taken{0};
  if (words == nullptr) return nullptr;
  const std::size_t number = taken.fetch_add(1, std::memory_order_relaxed);
  if (number >= host_words_max) return nullptr;
  return new (words + number * sizeof(std::int64_t)) std::atomic<std::int64_t>(0);
}

}  // namespace howlate
