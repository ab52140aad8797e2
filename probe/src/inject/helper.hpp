// A process beside the measuring one that takes part in making delays: it waits for t0 and goes through one lane's list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "loads/base/placed.hpp"
#include "sys/file.hpp"

namespace howlate {

class InjectHelper {
 public:
  // In the main thread while there is no other. `body` gets t0 and runs in the process.
  Status start(const PlacedSpec& spec, const Root& root, std::function<void(std::int64_t t0_ns)> body);
  Status begin(std::int64_t t0_ns);
  void end() { process_.end(); }
  [[nodiscard]] std::int32_t pid() const { return process_.pid(); }

 private:
  Fd tell_;
  PlacedProcess process_;
};

// A real-time policy above a measuring thread's: fifo:95, or the next above. Nothing is above fifo:99 or a deadline task.
Result<SchedPolicy> policy_above(const SchedPolicy& policy);

}  // namespace howlate
