// Stopping the machine at exactly one instruction, so that the host can save it: a guest that says that it
// panicked (QEMU's pvpanic-pci), which it did not.
#pragma once

#include "core/result.hpp"
#include "job/pci.hpp"

namespace howlate {

class Stop {
 public:
  static Result<Stop> find(const Root& root);
  // Comes back when the host lets the machine go on.
  void stop() const;

 private:
  explicit Stop(PciMemory memory) : memory_(std::move(memory)) {}
  PciMemory memory_;
};

}  // namespace howlate
