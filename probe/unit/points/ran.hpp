// The threads of a plan, run to their end without the rest of a test.
#pragma once

#include "points/threads.hpp"

namespace howlate {

struct Ran {
  WakeFd wake_fd = std::move(*WakeFd::make());
  PointsThreads threads{Root(), wake_fd};
  Status status;
  explicit Ran(const PointsPlan& plan) {
    status = threads.make(plan);
    if (status) status = threads.start();
    if (!status) return;
    threads.open(plan, monotonic_now_ns());
    while (!threads.group().ended()) {
      if (threads.group().stopping()) threads.group().kick();
      // Kicks without a pause would leave a thread no time for anything else.
      sleep_until_ns(monotonic_now_ns() + 100'000);
    }
    threads.group().join();
  }
  // The first thread's view.
  const PointsThread& first() { return threads.runs().front()->seen; }
};

}  // namespace howlate
