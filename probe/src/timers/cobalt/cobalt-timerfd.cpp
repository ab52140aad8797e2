// A timerfd of Cobalt's, armed with an absolute time for each activation, and its blocking read().
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "timers/cobalt/cobalt_core.hpp"
#include "timers/core_sleep.hpp"

namespace howlate {

namespace {

class CobaltTimerfd : public CoreSleep<Cobalt> {
 public:
  using CoreSleep::CoreSleep;
  ~CobaltTimerfd() {
    if (timer_ >= 0) __RT(close(timer_));
  }
  CobaltTimerfd(const CobaltTimerfd&) = delete;
  CobaltTimerfd& operator=(const CobaltTimerfd&) = delete;
  static constexpr std::string_view calls = "Cobalt's timerfd_settime() or read()";

  Status open() {
    timer_ = __RT(timerfd_create(CLOCK_MONOTONIC, 0));
    return timer_ >= 0 ? Status() : not_possible("Cobalt gives no timerfd: " + errno_text(errno));
  }

  std::int64_t wait(std::int64_t release_ns) {
    begin();
    struct itimerspec once {};
    once.it_value = timespec_of(release_ns);
    std::uint64_t expiries = 0;
    const bool slept = __RT(timerfd_settime(timer_, TFD_TIMER_ABSTIME, &once, nullptr)) == 0 &&
                       __RT(read(timer_, &expiries, sizeof expiries)) == sizeof expiries;
    woken(slept ? 0 : errno, release_ns);
    return now();
  }

 private:
  int timer_ = -1;
};

}  // namespace

extern constinit const Timer timer_cobalt_timerfd = core_timer<CobaltTimerfd>(
    "cobalt-timerfd", "Cobalt's timerfd_settime() with an absolute time, and its blocking read()");

}  // namespace howlate
