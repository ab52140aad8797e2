// A bell between the threads of a cell.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

// A thread that was told to stop and sleeps on is told so again after this time.
inline constexpr std::int64_t kick_again_ns = 5'000'000;

// Something happened that the main thread waits for; can be told from any thread.
class Bell {
 public:
  static Result<Bell> make();
  void ring() const;
  // Until it rings, `other` becomes readable or the time has passed (CLOCK_MONOTONIC). True when it rang.
  [[nodiscard]] bool wait(const Fd& other, std::int64_t until_ns) const;

 private:
  explicit Bell(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace howlate
