// A wake-up signal between the threads of a cell.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

// A thread that was told to stop and sleeps on is told so again after this time.
inline constexpr std::int64_t kick_again_ns = 5'000'000;

// Reports an event for which the main thread waits; callable from any thread.
class WakeFd {
 public:
  static Result<WakeFd> make();
  void ring() const;
  // Waits until it rings, `other` becomes readable or the time has passed (CLOCK_MONOTONIC). True if it rang.
  [[nodiscard]] bool wait(const Fd& other, std::int64_t until_ns) const;

 private:
  explicit WakeFd(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace howlate
