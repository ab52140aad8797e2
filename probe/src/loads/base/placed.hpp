// A process of its own beside the measuring threads: a fork, placed and with a policy as a measuring thread is, that
// ends with its parent.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

struct PlacedSpec {
  std::string name;  // as ps and the kernel's traces show it, 15 characters
  std::vector<int> cpus;
  SchedPolicy policy;
};

class PlacedProcess {
 public:
  PlacedProcess() = default;
  PlacedProcess(const PlacedProcess&) = delete;
  PlacedProcess& operator=(const PlacedProcess&) = delete;
  ~PlacedProcess() { end(); }

  // On the main thread while there is no other. When it returns well the process is where and as it was asked to be, and calls
  // `body`; after that it ends.
  Status start(const PlacedSpec& spec, const Root& root, const std::function<void()>& body);
  void await() const;  // until it has ended, however: on a thread that may wait
  [[nodiscard]] bool has_ended() const;
  void end();  // kills it where it is still there
  [[nodiscard]] pid_t pid() const { return process_; }

 private:
  pid_t process_ = 0;
};

}  // namespace howlate
