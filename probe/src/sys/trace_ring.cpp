#include "sys/trace_ring.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace howlate {

Result<TraceRing> TraceRing::open(const TraceInstance& instance, const std::vector<int>& cpus) {
  TraceRing ring;
  for (const int cpu : cpus) {
    const std::string path = instance.path("per_cpu/cpu" + std::to_string(cpu) + "/trace_pipe_raw");
    Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!fd.valid())
      return not_possible("the trace of CPU " + std::to_string(cpu) +
                          " cannot be read: " + errno_text(errno));
    ring.rings_.emplace_back(cpu, std::move(fd));
  }
  return ring;
}

bool TraceRing::read(int cpu, std::span<std::byte> page) {
  for (const auto& [number, fd] : rings_) {
    if (number != cpu) continue;
    ssize_t got = ::read(fd.get(), page.data(), page.size());
    while (got < 0 && errno == EINTR) got = ::read(fd.get(), page.data(), page.size());
    if (got <= 0) return false;
    const auto rest = page.subspan(std::min(static_cast<std::size_t>(got), page.size()));
    std::fill(rest.begin(), rest.end(), std::byte{0});
    return true;
  }
  return false;
}

}  // namespace howlate
