#include "loads/base/progress.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "loads/base/family.hpp"
#include "sys/clock.hpp"

namespace howlate {
namespace {

// MFD_CLOEXEC and MFD_NOEXEC_SEAL, which glibc of the oldest systems has not.
constexpr unsigned close_on_exec = 1, not_executable = 8;

Error no_memory(const std::string& whose) {
  return broken("cannot map memory shared with " + whose + ": " + errno_text(errno));
}

// A file in memory. Kernels before 6.3 do not know that it is not to be executed; some of those after it insist.
Fd memory_file() {
  for (const unsigned flags : {close_on_exec | not_executable, close_on_exec}) {
    Fd file(static_cast<int>(::syscall(SYS_memfd_create, "howlate-load", flags)));
    if (file.valid() || errno != EINVAL) return file;
  }
  return {};
}

}  // namespace

Fd unnamed_file() {
  for (const char* pattern : {"/dev/shm/howlate-XXXXXX", "/tmp/howlate-XXXXXX"}) {
    std::string path = pattern;
    Fd file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file.valid()) continue;
    ::unlink(path.c_str());
    return file;
  }
  return {};
}

Result<SharedSlots> SharedSlots::make() {
  SharedSlots made;
  made.file_ = memory_file();
  if (!made.file_.valid()) made.file_ = unnamed_file();
  if (!made.file_.valid()) return no_memory("a load");
  return made;
}

SharedSlots::SharedSlots(SharedSlots&& other) noexcept
    : file_(std::move(other.file_)), slots_(std::exchange(other.slots_, {})) {}

SharedSlots& SharedSlots::operator=(SharedSlots&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(slots_, other.slots_);
  return *this;
}

SharedSlots::~SharedSlots() {
  if (!slots_.empty()) ::munmap(const_cast<WorkerSlot*>(slots_.data()), slots_.size_bytes());
}

Status SharedSlots::map() {
  struct stat file {};
  if (::fstat(file_.get(), &file) != 0) return no_memory("a load");
  const auto bytes = static_cast<std::size_t>(file.st_size);
  if (bytes < sizeof(WorkerSlot)) return broken("a load shares no memory with its test");
  void* place = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_.get(), 0);
  if (place == MAP_FAILED) return no_memory("a load");
  slots_ = {static_cast<const WorkerSlot*>(place), bytes / sizeof(WorkerSlot)};
  file_.reset();
  return {};
}

Progress SharedSlots::look(const Load& load) const {
  Progress now;
  now.time_ns = monotonic_now_ns();
  for (const WorkerSlot& slot : slots_) {
    now.cpu_ns += process_cpu_ns(slot.pid.load(std::memory_order_relaxed));
    now.units += slot.units.load(std::memory_order_relaxed);
    now.actions += slot.actions.load(std::memory_order_relaxed);
  }
  if (!load.action.counted) now.actions = now.units;
  return now;
}

Result<std::span<WorkerSlot>> map_worker_slots(std::size_t workers, int fd) {
  const std::size_t bytes = workers * sizeof(WorkerSlot);
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return no_memory("the workers");
  const int flags = fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS;
  void* place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (place == MAP_FAILED) return no_memory("the workers");
  auto* first = static_cast<WorkerSlot*>(place);
  for (std::size_t i = 0; i < workers; ++i) new (first + i) WorkerSlot();
  return std::span(first, workers);
}

}  // namespace howlate
