// A pipe in each direction: write() and read() of four bytes, as `perf bench sched pipe` does it.
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "switches/pair.hpp"

namespace howlate {

namespace {

struct Pipes : SwitchWay {
  std::array<std::array<Fd, 2>, 2> pipes;  // to each side: where it reads, where the other writes

  Status make(bool /*processes*/) {
    for (auto& pipe : pipes) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return broken("no pipe: " + errno_text(errno));
      pipe = {Fd(ends[0]), Fd(ends[1])};
    }
    return {};
  }
  void hand_over(Side from) {
    const int token = 0;
    while (::write(pipes[other(from)][1].get(), &token, sizeof token) < 0 && errno == EINTR) {
    }
  }
  void await(Side at, SwitchControl& control) {
    int token = 0;
    while (::read(pipes[number(at)][0].get(), &token, sizeof token) != sizeof token && !control.over())
      if (errno != EINTR) control.failed(errno);
  }
};

}  // namespace

extern const Switch switch_pipe;
const Switch switch_pipe = {
    .name = "pipe",
    .summary = "a pipe in each direction: write() and read()",
    .available = always_available,
    .make = PairOf<Pipes>::make,
};

}  // namespace howlate
