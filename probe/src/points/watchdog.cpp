#include "points/watchdog.hpp"

#include <algorithm>

namespace howlate {

namespace {

SchedPolicy policy_above(const PointsPlan& plan) {
  int highest = 0;
  for (const PointsThreadSpec& thread : plan.threads)
    if (thread.policy.real_time()) highest = std::max(highest, thread.policy.priority);
  if (highest == 0) return {};
  return {.kind = SchedKind::fifo, .priority = std::min(highest + 1, 99)};
}

}  // namespace

Status Watchdog::start(const PointsPlan& plan, const Root& root) {
  auto wake_fd = WakeFd::make();
  if (!wake_fd) return wake_fd.error();
  home_.emplace(std::move(*wake_fd));
  const std::int64_t stall_ns = plan.stall_ns;
  const auto body = [this, stall_ns] { this->body(stall_ns); };
  auto thread = RtThread::start({{}, policy_above(plan), 0, "watchdog", {}}, body, root);
  if (!thread) thread = RtThread::start({{}, {}, 0, "watchdog", {}}, body, root);
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

void Watchdog::body(std::int64_t stall_ns) {
  std::int64_t seen = threads_.points();
  std::int64_t wait_ns = stall_ns;
  while (!home_->wait(Fd(), monotonic_now_ns() + wait_ns)) {
    const std::int64_t now = threads_.points();
    if (now == seen) {
      barked_.store(true, std::memory_order_release);
      threads_.group().stop();
    }
    if (barked()) {
      threads_.group().kick();
      wait_ns = kick_again_ns;
    }
    seen = now;
  }
}

void Watchdog::end() {
  if (home_) home_->ring();
  thread_.join();
}

}  // namespace howlate
