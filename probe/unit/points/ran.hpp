// The threads of a plan, run to their end without the rest of a test.
#pragma once

#include "points/threads.hpp"

namespace howlate {

struct Ran {
  Bell bell = std::move(*Bell::make());
  PointsThreads threads{Root(), bell};
  Status status;
  explicit Ran(const PointsPlan& plan) {
    status = threads.make(plan);
    if (status) status = threads.start();
    if (!status) return;
    threads.open(plan, monotonic_now_ns());
    while (!threads.crew().ended()) {
      if (threads.crew().stopping()) threads.crew().kick();
      // Kicks without a pause would leave a thread no time for anything else.
      sleep_until_ns(monotonic_now_ns() + 100'000);
    }
    threads.crew().join();
  }
  // The first thread's view.
  const PointsThread& first() { return threads.runs().front()->seen; }
};

}  // namespace howlate
