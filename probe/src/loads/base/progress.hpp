// What a load has done up to an instant, read by the process that started it: the workers of a load count in memory that is shared
// with that process, so nobody of the load has to be scheduled, and the instant is the reader's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"

namespace howlate {

// Running totals at one instant.
struct Progress {
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t cpu_ns = 0;   // of the workers; their children's is in the load's reports alone
  std::int64_t units = 0;
  std::int64_t actions = 0;  // as in LoadReport
};

// The slots of a load's workers in a file in memory. The starter makes the file and hands its descriptor to the load, whose
// supervisor gives it its length; when the load is ready the starter maps it as well.
class SharedSlots {
 public:
  static Result<SharedSlots> make();
  SharedSlots() = default;
  SharedSlots(SharedSlots&& other) noexcept;
  SharedSlots& operator=(SharedSlots&& other) noexcept;
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots();

  [[nodiscard]] int fd() const { return file_.get(); }
  // When the load is ready.
  Status map();
  // Allocates nothing and waits for nobody: a measuring thread may ask before its first release and after its last. `load` says
  // how actions are counted.
  [[nodiscard]] Progress look(const Load& load) const;
  [[nodiscard]] std::span<const WorkerSlot> slots() const { return slots_; }

 private:
  Fd file_;
  std::span<const WorkerSlot> slots_;
};

// A file without a name where tasks share it: where the kernel makes no file in memory (before 3.17, or forbidden). Invalid where there
// is no place for it.
Fd unnamed_file();

// In the supervisor: memory for so many slots, in the file behind `fd`, or, where that is negative, in memory that nobody else sees.
Result<std::span<WorkerSlot>> map_worker_slots(std::size_t workers, int fd);

}  // namespace howlate
