// Priority inversion: the measuring thread's work takes a lock that a thread below it holds, on the same CPU and without priority
// inheritance.
#include <pthread.h>

#include <atomic>

#include "inject/work.hpp"
#include "sys/clock.hpp"
#include "sys/thread.hpp"

namespace howlate {

namespace {

SchedPolicy below(const SchedPolicy& policy) {
  if (!policy.real_time() || policy.kind == SchedKind::deadline || policy.priority <= 1) return {};
  return {.kind = SchedKind::fifo, .priority = policy.priority - 1};
}

struct HeldLock {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  RtThread holder;
};

class Lock : public WorkRun {
 public:
  explicit Lock(Root root) : root_(std::move(root)) {}
  ~Lock() override { send_home(); }

  Status begin(std::int64_t t0_ns) override {
    t0_ns_.store(t0_ns, std::memory_order_release);
    t0_ns_.notify_all();
    return {};
  }

  Result<std::vector<MadeDelay>> end() override {
    send_home();
    return WorkRun::end();
  }

 protected:
  Status prepare() override {
    for (std::size_t lane = 0; lane < plan_->lanes.size(); ++lane) {
      held_.push_back(std::make_unique<HeldLock>());
      const InjectLane& of = plan_->lanes[lane];
      ThreadSpec spec{{of.cpu}, below(of.policy), 0, "lock_holder", {}};
      auto holder = RtThread::start(
          spec, [this, lane] { hold_locks(lane); }, root_);
      if (!holder) return holder.error();
      held_.back()->holder = std::move(*holder);
    }
    return {};
  }

  void hold(std::size_t lane, DelaySlot& slot, std::int64_t /*until_ns*/) override {
    pthread_mutex_t& mutex = held_[lane]->mutex;
    slot.begin_ns.store(monotonic_now_ns(), std::memory_order_relaxed);
    ::pthread_mutex_lock(&mutex);
    ::pthread_mutex_unlock(&mutex);
    if (slot.end_ns.load(std::memory_order_acquire) == 0) skip_delay(slot, monotonic_now_ns());
  }

 private:
  // The thread that holds the lock: from before each delay to its end.
  void hold_locks(std::size_t lane) {
    t0_ns_.wait(0, std::memory_order_acquire);
    const std::int64_t t0_ns = t0_ns_.load(std::memory_order_acquire);
    const InjectLane& of = plan_->lanes[lane];
    pthread_mutex_t& mutex = held_[lane]->mutex;
    for (std::size_t index = 0; index < of.delays.size() && t0_ns > 0; ++index) {
      const std::int64_t begin_ns = t0_ns + of.stagger_ns + of.delays[index].begin_ns;
      const std::int64_t until_ns = begin_ns + of.delays[index].size_ns;
      DelaySlot& slot = slots_.at(lane, index);
      ::pthread_mutex_lock(&mutex);
      sleep_until_ns(begin_ns);
      std::int64_t now_ns = monotonic_now_ns();
      while (now_ns < until_ns && !over_.load(std::memory_order_relaxed)) now_ns = monotonic_now_ns();
      slot.pid.store(thread_number(), std::memory_order_relaxed);
      slot.end_ns.store(now_ns, std::memory_order_release);
      ::pthread_mutex_unlock(&mutex);
      if (over_.load(std::memory_order_relaxed)) return;
    }
  }

  void send_home() {
    over_.store(true, std::memory_order_relaxed);
    std::int64_t none = 0;
    t0_ns_.compare_exchange_strong(none, -1, std::memory_order_acq_rel);
    t0_ns_.notify_all();
    for (const auto& held : held_) held->holder.join();
  }

  Root root_;
  std::atomic<std::int64_t> t0_ns_{0};  // -1: there will be none
  std::atomic<bool> over_{false};
  std::vector<std::unique_ptr<HeldLock>> held_;
};

Status available(const Root& /*root*/) {
  return {};
}

std::unique_ptr<InjectionRun> make(const Root& root) {
  return std::make_unique<Lock>(root);
}

}  // namespace

extern const Injection injection_lock;
const Injection injection_lock = {
    .name = "lock",
    .summary = "the measuring thread takes a lock that a thread below it holds",
    .in_work = true,
    .available = available,
    .make = make,
};

}  // namespace howlate
