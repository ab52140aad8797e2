#include "cell/wake_fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/clock.hpp"

namespace howlate {

Result<WakeFd> WakeFd::make() {
  Fd fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!fd.valid()) return broken("cannot have an eventfd: " + errno_text(errno));
  return WakeFd(std::move(fd));
}

void WakeFd::ring() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(fd_.get(), &one, sizeof one);
}

bool WakeFd::wait(const Fd& other, std::int64_t until_ns) const {
  const std::int64_t left_ns = std::max<std::int64_t>(until_ns - monotonic_now_ns(), 0);
  const struct timespec left = timespec_of(left_ns);
  struct pollfd fds[] = {{fd_.get(), POLLIN, 0}, {other.get(), POLLIN, 0}};
  if (::ppoll(fds, 2, &left, nullptr) <= 0) return false;
  std::uint64_t rung = 0;
  return ::read(fd_.get(), &rung, sizeof rung) == static_cast<ssize_t>(sizeof rung);
}

}  // namespace howlate
