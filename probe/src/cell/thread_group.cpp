#include "cell/thread_group.hpp"

#include <algorithm>
#include <utility>

#include "sys/clock.hpp"
#include "timers/timer.hpp"

namespace howlate {

ThreadGroup::~ThreadGroup() {
  barrier_.send_home();
  stop();
  while (!ended()) {
    kick();
    sleep_until_ns(monotonic_now_ns() + 1'000'000);
  }
  join();
}

Status ThreadGroup::start(Member& member, const ThreadSpec& spec, std::function<void()> body) {
  member.ended.store(false, std::memory_order_relaxed);
  const auto run = [this, &member, body = std::move(body)] {
    body();
    member.ended.store(true, std::memory_order_release);
    member.ended.notify_all();
    wake_fd_.ring();
  };
  auto thread = RtThread::start(spec, run, root_);
  if (!thread) {
    member.ended.store(true, std::memory_order_relaxed);
    return thread.error();
  }
  member.thread = std::move(*thread);
  members_.push_back(&member);
  return {};
}

void ThreadGroup::kick() const {
  const std::lock_guard lock(joining_);
  for (const Member* const member : members_)
    if (!member->ended.load(std::memory_order_acquire)) member->thread.kick(kick_signal());
}

bool ThreadGroup::ended() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member* const member) {
    return member->ended.load(std::memory_order_acquire);
  });
}

void ThreadGroup::join() {
  for (Member* const member : members_) {
    member->ended.wait(false, std::memory_order_acquire);
    const std::lock_guard lock(
        joining_);  // who kicks has looked and signalled, or will see that it has ended
    member->thread.join();
  }
}

}  // namespace howlate
