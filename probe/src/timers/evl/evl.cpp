// An EVL timer, armed with an absolute time for each activation, and oob_read().
#include <unistd.h>

#include "timers/core_sleep.hpp"
#include "timers/evl/evl_core.hpp"
#include "timers/evl/library.hpp"

namespace howlate {

namespace {

class EvlTimer : public CoreSleep<Evl> {
 public:
  using CoreSleep::CoreSleep;
  static constexpr std::string_view calls = "evl_set_timer() or oob_read()";

  Status open() {
    const int timer = evl_new_timer(EVL_CLOCK_MONOTONIC);
    timer_ = Fd(timer);
    return timer >= 0 ? Status() : not_possible("EVL gives no timer: " + errno_text(-timer));
  }

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    struct itimerspec once {};
    once.it_value = timespec_of(release_ns);
    int failed = -evl_set_timer(timer_.get(), &once, nullptr);
    std::uint64_t expiries = 0;
    if (failed == 0 && oob_read(timer_.get(), &expiries, sizeof expiries) != sizeof expiries) failed = errno;
    woken(failed, release_ns);
    return now();
  }

 private:
  Fd timer_;
};

}  // namespace

extern constinit const Timer timer_evl =
    core_timer<EvlTimer>("evl", "evl_set_timer() with an absolute time, and oob_read()");

}  // namespace howlate
