// The kernel's trace (tracefs): set a mark and stop it, so that the events before a late wake-up stay in its
// buffer.
#pragma once

#include <string_view>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

class Trace {
 public:
  // Opens trace_marker and tracing_on below /sys/kernel/tracing, or below /sys/kernel/debug/tracing.
  static Result<Trace> open(const Root& root);

  // Two writes on descriptors that are already open.
  void mark_and_stop(std::string_view mark) const;
  [[nodiscard]] bool was_on() const { return was_on_; }  // when it was opened

 private:
  Trace(Fd marker, Fd on, bool was_on) : marker_(std::move(marker)), on_(std::move(on)), was_on_(was_on) {}
  Fd marker_;
  Fd on_;
  bool was_on_;
};

}  // namespace howlate
