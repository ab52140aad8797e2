// Delays that a measuring thread makes itself, in the work of an activation: so late that the next release passes meanwhile.
#pragma once

#include <vector>

#include "inject/slots.hpp"

namespace howlate {

class WorkRun : public InjectionRun {
 public:
  Status set_up(const InjectPlan& plan) final;
  Status begin(std::int64_t t0_ns) override;
  void work(std::size_t lane, std::int64_t lane_t0_ns, const Sample& sample) final;
  Result<std::vector<MadeDelay>> end() override { return slots_.made(*plan_); }

 protected:
  virtual Status prepare() = 0;  // set_up() of the kind
  // First in each activation's work.
  virtual void next_work() {}
  // Before the thread sleeps until the delay begins.
  virtual void get_ready(std::size_t /*lane*/) {}
  // From its first statement to its last the delay: from now until `until_ns`. Notes both ends.
  virtual void hold(std::size_t lane, DelaySlot& slot, std::int64_t until_ns) = 0;

  const InjectPlan* plan_ = nullptr;
  LaneSlots slots_;

 private:
  std::vector<std::size_t> next_;  // of each lane: the first delay that has not passed
};

}  // namespace howlate
