// How the kernel schedules a thread: policy, priority, CPUs; set, and read back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

enum class SchedKind { other, batch, idle, fifo, rr, deadline };

struct SchedPolicy {
  SchedKind kind = SchedKind::other;
  int priority = 0;                                             // fifo, rr: 1..99
  int nice = 0;                                                 // other, batch
  std::int64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;  // deadline

  [[nodiscard]] bool real_time() const {
    return kind == SchedKind::fifo || kind == SchedKind::rr || kind == SchedKind::deadline;
  }
  bool operator==(const SchedPolicy&) const = default;
};

// "other", "batch", "idle", "fifo:80", "rr:80", "deadline:RUNTIME:DEADLINE:PERIOD" (durations); and back.
Result<SchedPolicy> parse_policy(std::string_view text);
std::string policy_text(const SchedPolicy& policy);

// For the calling thread, or another task by its number. The value read back is compared; a refusal is an Error whose remedy names the missing
// right.
Status set_policy(const SchedPolicy& policy, const Root& root = {}, pid_t task = 0);
// Why the kernel refused a policy with this error, from what is known of the caller, and how it can be had here.
Error policy_refused(const SchedPolicy& policy, int error, const Root& root);
Result<SchedPolicy> read_policy(pid_t task = 0);
// Whether a thread of this process may have the policy; tried on a thread of its own that ends at once. For
// `deadline` with all the CPUs that this process may use.
Status may_have_policy(const SchedPolicy& policy, const Root& root = {});

// Another process, for as long as this lives: served before all ordinary ones (fifo:1; what it forks is not), then
// as it was. Where it is a real-time one already, or the right lacks, nothing is changed.
class ServedFirst {
 public:
  explicit ServedFirst(pid_t process);
  ServedFirst(const ServedFirst&) = delete;
  ServedFirst& operator=(const ServedFirst&) = delete;
  ~ServedFirst();

 private:
  pid_t process_ = 0;
  int before_ = -1;  // as the kernel numbers policies; -1: not changed
};

Status set_affinity(const std::vector<int>& cpus);        // of the calling thread, read back
std::vector<int> read_affinity();                         // of the calling thread, sorted
bool may_move_to(int cpu);                                // tried, and undone
std::string cpu_list_text(const std::vector<int>& cpus);  // {0,1,2,5} -> "0-2,5"

// prctl(PR_SET_TIMERSLACK) of the calling thread; 0 leaves it as found. Read back in nanoseconds.
Status set_timer_slack(std::int64_t slack_ns);
std::int64_t read_timer_slack();

}  // namespace howlate
