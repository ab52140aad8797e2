// A process beside the measuring one that takes part in making delays: it waits for t0 and goes through one lane's list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loads/base/placed.hpp"
#include "sys/file.hpp"

namespace howlate {

class InjectHelper {
 public:
  // In the main thread while there is no other. `body` gets t0 and runs in the process.
  Status start(const PlacedSpec& spec, const Root& root, std::function<void(std::int64_t t0_ns)> body);
  Status begin(std::int64_t t0_ns);
  Status end();  // broken if somebody else had ended it
  [[nodiscard]] std::int32_t pid() const { return process_.pid(); }

 private:
  Fd tell_;
  PlacedProcess process_;
};

// All of them; the status of one that is not well.
Status end_helpers(const std::vector<std::unique_ptr<InjectHelper>>& helpers);

// A real-time policy above a measuring thread's: fifo:95, or the next above. Nothing is above fifo:99 or a deadline task.
Result<SchedPolicy> policy_above(const SchedPolicy& policy);

}  // namespace howlate
