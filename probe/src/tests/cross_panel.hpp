// The threads on the CPUs that the test `cross` asks: each sleeps until it is called, then spins until it is dismissed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "points/points.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "timers/work.hpp"

namespace howlate {

// One of them, and what it shares with the asking thread. A call is a number: odd ones want the thread awake, even ones asleep.
struct alignas(128) Seat {
  explicit Seat(int on) : cpu(on) {}
  const int cpu;
  std::int64_t work = 0;                 // iterations between the wake-up and its time stamp
  std::atomic<std::uint32_t> called{0};  // also the futex it sleeps on
  std::atomic<std::uint32_t> heard{
      1};  // the last call that the thread has followed; an even one: it is about to sleep
  std::atomic<std::int64_t> woke_ns{0};  // first time stamp after the last sleep
};

// What the thread does until the run is over. `attend` is called again and again while it is awake.
template <class Attend>
void sit(const PointsThread& thread, Seat& seat, Attend attend) {
  while (!thread.stopped()) {
    const std::uint32_t call = seat.called.load(std::memory_order_acquire);
    seat.heard.store(call, std::memory_order_release);
    if (call % 2 != 0) {
      while (seat.called.load(std::memory_order_acquire) == call && !thread.stopped()) attend();
      continue;
    }
    futex_wait(seat.called, call);
    if (seat.work != 0) do_work(seat.work);
    seat.woke_ns.store(monotonic_now_ns(), std::memory_order_relaxed);
  }
}

// All of them, as the asking thread sees them.
class Panel {
 public:
  explicit Panel(const std::vector<int>& cpus) {
    for (const int cpu : cpus) seats_.push_back(std::make_unique<Seat>(cpu));
  }

  [[nodiscard]] std::size_t size() const { return seats_.size(); }
  [[nodiscard]] Seat& seat(std::size_t number) { return *seats_[number]; }
  [[nodiscard]] const std::vector<std::unique_ptr<Seat>>& seats() const { return seats_; }

  // The first time stamp of a thread that this wakes, and whether it was asleep; nothing if the run ended meanwhile.
  struct WakeUp {
    std::int64_t woke_ns = 0;
    bool was_asleep = false;
  };
  static std::optional<WakeUp> wake(const PointsThread& thread, Seat& seat) {
    const bool was_asleep = call(seat) == 1;
    if (!followed(thread, seat)) return std::nullopt;
    return WakeUp{seat.woke_ns.load(std::memory_order_relaxed), was_asleep};
  }

  // Everybody has taken a seat; false if the run ended meanwhile. It sleeps: where the process may use the asking CPU alone beside isolated
  // ones, the thread that starts the others has no other CPU.
  bool assemble(const PointsThread& thread) {
    for (const auto& seat : seats_)
      while (seat->heard.load(std::memory_order_acquire) % 2 != 0) {
        if (thread.stopped()) return false;
        sleep_until_ns(monotonic_now_ns() + 100'000);
      }
    return true;
  }

  // Everybody awake and spinning; false if the run ended meanwhile.
  bool gather(const PointsThread& thread) {
    for (const auto& seat : seats_) call(*seat);
    for (const auto& seat : seats_)
      if (!followed(thread, *seat)) return false;
    return true;
  }

  // Everybody about to sleep; false if the run ended meanwhile.
  bool dismiss(const PointsThread& thread) {
    for (const auto& seat : seats_)
      if (const std::uint32_t now = seat->called.load(std::memory_order_relaxed); now % 2 != 0)
        seat->called.store(now + 1, std::memory_order_release);
    for (const auto& seat : seats_)
      if (!followed(thread, *seat)) return false;
    return true;
  }

 private:
  static long call(Seat& seat) {
    seat.called.fetch_add(1, std::memory_order_release);
    return futex_wake(seat.called, 1);
  }
  static bool followed(const PointsThread& thread, const Seat& seat) {
    const std::uint32_t call = seat.called.load(std::memory_order_relaxed);
    while (seat.heard.load(std::memory_order_acquire) != call)
      if (thread.stopped()) return false;
    return true;
  }

  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace howlate
