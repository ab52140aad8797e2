// The interface of a delay that is made on purpose: what explains latencies is tried on delays whose kind, beginning and end are
// known. ONE FILE in this folder = ONE KIND.
//
// A file `inject/softirq.cpp` defines `extern const Injection injection_softirq;`; the build lists the folder and generates the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/sample.hpp"
#include "inject/plan.hpp"
#include "sys/need.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"

namespace howlate {

// What is delayed: one measuring thread, pinned to its CPU.
struct InjectLane {
  int cpu = 0;
  SchedPolicy policy;
  std::int64_t stagger_ns = 0;  // its first release minus the cell's t0
  std::vector<PlannedDelay> delays;
};

struct InjectPlan {
  std::vector<InjectLane> lanes;
  std::vector<int> allowed;   // CPUs of this process
  std::int64_t round_ns = 0;  // of the turns of a virtual machine's CPUs
};

// A delay that was made: by the clock at both ends, in what delays.
struct MadeDelay {
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
  std::int64_t wanted_ns = 0;
  int cpu = 0;
  std::int32_t pid = 0;  // in whose context it was; 0: no task's
  bool as_wanted = true;
  std::int64_t uncertainty_ns = 0;  // by how much the end may lie before or after `end_ns`
};

// A kind while it is used.
class InjectionRun {
 public:
  InjectionRun() = default;
  InjectionRun(const InjectionRun&) = delete;
  InjectionRun& operator=(const InjectionRun&) = delete;
  virtual ~InjectionRun() = default;

  // In the main thread while there is no other; everything that can be missing is asked for. `plan` outlives this.
  virtual Status set_up(const InjectPlan& plan) = 0;
  // Once t0 is known, just before the first release.
  virtual Status begin(std::int64_t t0_ns) = 0;
  // Only of kinds that are made in the work of an activation: on the measuring thread, after its time stamp.
  virtual void work(std::size_t /*lane*/, std::int64_t /*lane_t0_ns*/, const Sample& /*sample*/) {}
  // After the measuring threads have ended: stops, and gives what was made, in order of the beginnings.
  virtual Result<std::vector<MadeDelay>> end() = 0;
};

struct Injection {
  std::string_view name;                  // "irqs-off"
  std::string_view summary;               // one line: what delays
  bool in_work = false;                   // made by the measuring thread itself, in its work
  Status (*available)(const Root& root);  // why it cannot be made here, or nothing
  std::unique_ptr<InjectionRun> (*make)(const Root& root);
  std::string_view module = {};             // that it needs
  std::string_view module_parameters = {};  // of that
};

// Sorted by name.
std::span<const Injection* const> injections();
Result<const Injection*> find_injection(std::string_view name);

}  // namespace howlate
