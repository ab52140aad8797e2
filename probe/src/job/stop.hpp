// Stopping the machine at exactly one instruction, so that the host can save it: a guest that says that it
// panicked (QEMU's pvpanic-pci), which it did not.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "job/pci.hpp"

namespace howlate {

class Stop {
 public:
  static Result<Stop> find(const Root& root);
  // Returns when the host lets the machine continue.
  void stop() const;

 private:
  explicit Stop(PciMemory memory) : memory_(std::move(memory)) {}
  PciMemory memory_;
};

// The machine's own clock (the counter that the kernel's is made of), in nanoseconds since the machine's start where a
// virtual machine counts its TSC in them; 0 on processors that no guest of the lab has. The host finds it by its name.
[[gnu::noinline]] std::uint64_t machine_clock_ns();

}  // namespace howlate
