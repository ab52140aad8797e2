#include "sys/standard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/called.hpp"
#include "core/text.hpp"
#include "sys/file.hpp"

namespace howlate {

namespace {

bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

ExitCode complain(const Error& error) {
  std::fprintf(stderr, "howlate-probe: %s\n", as_called(sentence(error)).c_str());
  return error.code;
}

void have_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // the lowest number that is free: fd
}

Status standard_output_kept() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  const int error = errno;  // 0 where an earlier flush has failed and this one had nothing to do
  if (error == EPIPE || reader_is_gone()) return {};
  return broken("standard output could not be written: " +
                    (error != 0 ? errno_text(error) : "an earlier line was lost"),
                "Make room there, or send it elsewhere");
}

}  // namespace howlate
