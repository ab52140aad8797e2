// A device of the module howlate_uio (kmod/): its file, on which the task waits, and the memory that it shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "howlate_abi.h"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

enum class UioWait { read, poll };

struct UioAccount {
  std::int64_t due = 0;      // interrupts that were due
  std::int64_t handled = 0;  // served by the handler; the others came while an earlier one waited for it
};

class UioDevice {
 public:
  // The path of the device that has this name (HOWLATE_UIO_*): "/dev/uio0".
  static Result<std::string> find(std::string_view name, const Root& root);
  static Result<std::unique_ptr<UioDevice>> open(std::string_view name, const Root& root);
  UioDevice(const UioDevice&) = delete;
  UioDevice& operator=(const UioDevice&) = delete;
  ~UioDevice();

  // Starts the interrupts, on the CPU of the caller.
  Status start(std::int64_t period_ns);
  // Waits until an interrupt was notified. False: a signal came, or (errno) waiting failed.
  [[nodiscard]] bool wait(UioWait how);
  // Called after a wait with poll(): UIO counts its notifications until they are read.
  void took() const;
  // The number of records so far; it wraps.
  [[nodiscard]] std::uint32_t written() const;
  // The record of that number; false if it has been overwritten.
  [[nodiscard]] bool read(std::uint32_t number, howlate_uio_record& record) const;
  // Stops the interrupts.
  UioAccount stop();

 private:
  UioDevice(Fd file, void* page, std::size_t bytes)
      : file_(std::move(file)), page_(static_cast<howlate_uio_page*>(page)), bytes_(bytes) {}
  Status control(std::int32_t on) const;

  Fd file_;
  howlate_uio_page* page_;
  std::size_t bytes_;
};

}  // namespace howlate
