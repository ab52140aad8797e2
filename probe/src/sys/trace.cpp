#include "sys/trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/rights.hpp"
#include "sys/tracefs.hpp"

namespace howlate {

Result<Trace> Trace::open(const Root& root) {
  int error = ENOENT;
  for (const std::string_view place : tracing_places) {
    const std::string folder = root.at(place);
    Fd marker(::open((folder + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC));
    if (!marker.valid()) {
      if (errno != ENOENT) error = errno;
      continue;
    }
    Fd on(::open((folder + "/tracing_on").c_str(), O_WRONLY | O_CLOEXEC));
    if (on.valid())
      return Trace(std::move(marker), std::move(on), read_integer(folder + "/tracing_on").value_or(0) != 0);
    error = errno;
  }
  return not_possible(
      "the kernel's trace cannot be stopped: " + errno_text(error) + " below /sys/kernel/tracing",
      "Mount it with 'mount -t tracefs nodev /sys/kernel/tracing' and " + remedy_of_root() +
          ", or leave --break-trace out");
}

void Trace::mark_and_stop(std::string_view mark) const {
  [[maybe_unused]] const ssize_t marked = ::write(marker_.get(), mark.data(), mark.size());
  [[maybe_unused]] const ssize_t stopped = ::write(on_.get(), "0", 1);
}

}  // namespace howlate
