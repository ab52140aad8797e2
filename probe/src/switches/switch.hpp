// The interface of a way to hand the CPU from one task to another. ONE FILE in this folder = ONE WAY.
//
// A file `switches/pipe.cpp` defines `extern const Switch switch_pipe;` and is found by its name: the build lists the folder and
// generates the table. What all share is in switches/pair.hpp; the test that uses them is tests/switch.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.hpp"
#include "points/points.hpp"
#include "sys/need.hpp"

namespace howlate {

// Two tasks: the leader measures, the partner answers. Only one of them has the turn.
enum class Side : unsigned { leader, partner };
inline unsigned number(Side side) {
  return static_cast<unsigned>(side);
}
inline unsigned other(Side side) {
  return 1U - number(side);
}

// What both tasks see beside the way itself, in memory that a forked partner shares.
struct SwitchControl {
  std::atomic<bool> ended{false};             // whoever wakes and sees it goes home
  std::atomic<int> error{0};                  // errno of a call that failed; ends both
  std::atomic<int> entered{0};                // sides that are ready to begin
  std::atomic<std::int64_t> work{0};          // iterations of each turn, on both sides
  std::atomic<std::int64_t> faults{-1};       // of the partner, after its end
  std::atomic<std::int64_t> follow_turns{0};  // that the partner had, after its end

  void failed(int with) {
    error.store(with, std::memory_order_relaxed);
    ended.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool over() const { return ended.load(std::memory_order_acquire); }
};

// A pair of tasks that hand over to each other in one way.
class SwitchPair {
 public:
  SwitchPair() = default;
  SwitchPair(const SwitchPair&) = delete;
  SwitchPair& operator=(const SwitchPair&) = delete;
  virtual ~SwitchPair() = default;

  virtual SwitchControl& control() = 0;
  // On the leader: ready, and waits for the partner to be. Then `rounds` times there and back; false when it ended before.
  virtual void begin() = 0;
  virtual bool lead(const PointsThread& thread, std::int64_t rounds) = 0;
  virtual void finish() = 0;  // sends the partner home
  // On the partner, to its end.
  virtual void follow() = 0;
  // On a third thread, when the partner's process is gone: sends the leader home.
  virtual void abandon() = 0;
};

struct Switch {
  std::string_view name;     // "pipe"
  std::string_view summary;  // one line: the calls it makes
  bool one_cpu = false;      // only between tasks of one CPU
  Status (*available)();     // does this kernel have it? asked before anything is started
  // With everything made that both sides need; `processes`: between a process and its fork, else between threads.
  Result<std::unique_ptr<SwitchPair>> (*make)(bool processes);
  std::span<const Need> config = {};  // options of the kernel that it needs, without CONFIG_
};

// The generated table of this folder, sorted by name, and a look-up whose error names the nearest.
std::span<const Switch* const> switches();
Result<const Switch*> find_switch(std::string_view name);

}  // namespace howlate
