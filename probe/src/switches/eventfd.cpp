// An eventfd for each side: write() and read() of its counter.
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "switches/pair.hpp"

namespace howlate {

namespace {

struct Eventfds : SwitchWay {
  std::array<Fd, 2> counters;

  Status make(bool /*processes*/) {
    for (Fd& counter : counters) {
      counter = Fd(::eventfd(0, EFD_CLOEXEC));
      if (!counter.valid()) return not_possible("this kernel has no eventfd: " + errno_text(errno));
    }
    return {};
  }
  void hand_over(Side from) {
    const std::uint64_t one = 1;
    while (::write(counters[other(from)].get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  void await(Side at, SwitchControl& control) {
    std::uint64_t count = 0;
    while (::read(counters[number(at)].get(), &count, sizeof count) != sizeof count && !control.over())
      if (errno != EINTR) control.failed(errno);
  }
};

Status available() {
  Eventfds tried;
  return tried.make(false);
}

}  // namespace

extern const Switch switch_eventfd;
const Switch switch_eventfd = {
    .name = "eventfd",
    .summary = "an eventfd for each side: write() and read()",
    .available = available,
    .make = PairOf<Eventfds>::make,
};

}  // namespace howlate
