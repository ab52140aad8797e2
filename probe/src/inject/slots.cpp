#include "inject/slots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "sys/file.hpp"

namespace howlate {

Result<DelaySlots> DelaySlots::make(std::size_t count) {
  DelaySlots slots;
  if (count == 0) return slots;
  void* const at = ::mmap(nullptr, count * sizeof(DelaySlot), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) return not_possible("no memory for the delays: " + errno_text(errno));
  slots.at_ = at;
  slots.count_ = count;
  return slots;
}

DelaySlots::~DelaySlots() {
  if (at_ != nullptr) ::munmap(at_, count_ * sizeof(DelaySlot));
}

Status LaneSlots::make(const InjectPlan& plan) {
  for (const InjectLane& lane : plan.lanes) {
    auto slots = DelaySlots::make(lane.delays.size());
    if (!slots) return slots.error();
    lanes_.push_back(std::move(*slots));
  }
  return {};
}

std::vector<MadeDelay> LaneSlots::made(const InjectPlan& plan) const {
  std::vector<MadeDelay> made;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    for (std::size_t index = 0; index < lanes_[lane].count(); ++index) {
      const DelaySlot& slot = lanes_[lane][index];
      const std::int64_t begin_ns = slot.begin_ns.load(std::memory_order_acquire);
      const std::int64_t end_ns = slot.end_ns.load(std::memory_order_acquire);
      if (begin_ns == 0 || end_ns == 0) continue;
      made.push_back({begin_ns, end_ns, plan.lanes[lane].delays[index].size_ns, plan.lanes[lane].cpu,
                      slot.pid.load(std::memory_order_relaxed),
                      slot.unwanted.load(std::memory_order_relaxed) == 0,
                      slot.uncertainty_ns.load(std::memory_order_relaxed)});
    }
  sort_made(made);
  return made;
}

void sort_made(std::vector<MadeDelay>& made) {
  std::sort(made.begin(), made.end(),
            [](const MadeDelay& left, const MadeDelay& right) { return left.begin_ns < right.begin_ns; });
}

}  // namespace howlate
