// The loops of both sides, the same for each way to hand over; no virtual call, allocation or lock in them but the way's own.
//
// A way is a type with
//   Status make(bool processes)        what both sides need, before there is a second task; in shared memory
//   void enter(Side)                   once on each side, before the first turn
//   void hand_over(Side from)          the turn goes to the other side, who is woken
//   void await(Side at, SwitchControl&)  until the turn is here, or control.over()
// A signal (the kick) may interrupt any call: the way calls again. At the begin the leader has the turn.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>

#include "switches/switch.hpp"
#include "sys/file.hpp"
#include "sys/thread.hpp"
#include "timers/work.hpp"

namespace howlate {

// One T in memory that a fork shares.
template <class T>
class Shared {
 public:
  Shared() {
    void* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) one_ = new (at) T;
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  // What is in it is not destroyed: a lock may be held by a task that was killed.
  ~Shared() {
    if (one_ != nullptr) ::munmap(one_, sizeof(T));
  }
  [[nodiscard]] T* get() const { return one_; }

 private:
  T* one_ = nullptr;
};

template <class SwitchWay>
class PairOf final : public SwitchPair {
 public:
  static Result<std::unique_ptr<SwitchPair>> make(bool processes) {
    auto pair = std::make_unique<PairOf>();
    if (pair->shared_.get() == nullptr) return broken("no shared memory: " + errno_text(errno));
    if (Status made = pair->shared_.get()->way.make(processes); !made) return made.error();
    return std::unique_ptr<SwitchPair>(std::move(pair));
  }

  SwitchControl& control() override { return shared_.get()->control; }

  void begin() override { enter(Side::leader); }

  bool lead(const PointsThread& thread, std::int64_t rounds) override {
    auto& [control, way] = *shared_.get();
    const std::int64_t work = control.work.load(std::memory_order_relaxed);
    for (; rounds > 0; --rounds) {
      way.hand_over(Side::leader);
      way.await(Side::leader, control);
      if (control.over() || thread.stopped()) return false;
      if (work != 0) do_work(work);
    }
    return true;
  }

  void finish() override {
    if (!control().ended.exchange(true, std::memory_order_acq_rel)) way().hand_over(Side::leader);
  }

  void follow() override {
    enter(Side::partner);
    auto& [control, way] = *shared_.get();
    const ThreadCounters before = read_thread_usage();
    std::int64_t turns = 0;
    for (;; ++turns) {
      way.await(Side::partner, control);
      if (control.over()) break;
      const std::int64_t work = control.work.load(std::memory_order_relaxed);
      if (work != 0) do_work(work);
      way.hand_over(Side::partner);
    }
    const ThreadCounters used = read_thread_usage() - before;
    control.faults.store(used.minor_faults + used.major_faults, std::memory_order_relaxed);
    control.follow_turns.store(turns, std::memory_order_release);
    if (control.error.load(std::memory_order_relaxed) != 0) way.hand_over(Side::partner);
  }

  void abandon() override {
    if (!control().ended.exchange(true, std::memory_order_acq_rel)) way().hand_over(Side::partner);
  }

 private:
  struct Both {
    SwitchControl control;
    SwitchWay way;
  };
  SwitchWay& way() { return shared_.get()->way; }

  // No turn may be asked for before both sides have what they begin with.
  void enter(Side side) {
    way().enter(side);
    control().entered.fetch_add(1, std::memory_order_acq_rel);
    while (control().entered.load(std::memory_order_acquire) != 2 && !control().over())
      sleep_until_ns(monotonic_now_ns() + 100'000);
  }

  Shared<Both> shared_;
};

// For ways that need nothing of the kernel that could lack.
inline Status always_available() {
  return {};
}
// For ways that a side needs no preparation for.
struct SwitchWay {
  void enter(Side) {}
};

}  // namespace howlate
