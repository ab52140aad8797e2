// A POSIX message queue for each side: mq_send() and mq_receive() of four bytes.
#include <fcntl.h>
#include <mqueue.h>
#include <unistd.h>

#include <array>
#include <string>

#include "switches/pair.hpp"

namespace howlate {

namespace {

struct MessageQueues : SwitchWay {
  std::array<mqd_t, 2> queues = {-1, -1};

  Status make(bool /*processes*/) {
    struct mq_attr attributes = {};
    attributes.mq_maxmsg = 1;
    attributes.mq_msgsize = sizeof(int);
    const std::string name = "/howlate-switch-" + std::to_string(::getpid());
    for (mqd_t& queue : queues) {
      queue = ::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
      if (queue < 0)
        return not_possible("message queues cannot be had here: " + errno_text(errno),
                            "Choose another --by, or look at 'ulimit -q'");
      ::mq_unlink(name.c_str());
    }
    return {};
  }
  ~MessageQueues() {
    for (const mqd_t queue : queues)
      if (queue >= 0) ::mq_close(queue);
  }
  void hand_over(Side from) {
    const int token = 0;
    while (::mq_send(queues[other(from)], reinterpret_cast<const char*>(&token), sizeof token, 0) < 0 &&
           errno == EINTR) {
    }
  }
  void await(Side at, SwitchControl& control) {
    int token = 0;
    while (::mq_receive(queues[number(at)], reinterpret_cast<char*>(&token), sizeof token, nullptr) < 0 &&
           !control.over())
      if (errno != EINTR) control.failed(errno);
  }
};

Status available() {
  MessageQueues tried;
  return tried.make(false);
}

constexpr Need config[] = {{"POSIX_MQUEUE"}};

}  // namespace

extern const Switch switch_mqueue;
const Switch switch_mqueue = {
    .name = "mqueue",
    .summary = "a POSIX message queue for each side: mq_send() and mq_receive()",
    .available = available,
    .make = PairOf<MessageQueues>::make,
    .config = config,
};

}  // namespace howlate
