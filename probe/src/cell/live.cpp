#include "cell/live.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/text.hpp"
#include "sys/clock.hpp"

namespace howlate {

Live::Live(const Params& params)
    : terminal_(::isatty(STDERR_FILENO) == 1 && !params.flag("quiet") && !params.flag("progress")),
      progress_(params.flag("progress")) {}

void Live::begin(std::int64_t t0_ns) {
  t0_ns_ = t0_ns;
  due_ns_ = t0_ns + second_ns;
}

void Live::show(std::int64_t now_ns, const SoFar& so_far) {
  due_ns_ = now_ns + second_ns;
  if (progress_) print_progress(now_ns - t0_ns_, so_far);
  if (terminal_) draw(now_ns - t0_ns_, so_far);
}

void Live::print_progress(std::int64_t elapsed_ns, const SoFar& so_far) const {
  std::printf("progress %" PRId64 " %" PRId64 " %" PRId64, so_far.made, elapsed_ns,
              std::max<std::int64_t>(so_far.latency_ns_max, 0));
  for (const SoFar::OfThread& thread : so_far.threads)
    if (thread.cpu >= 0)
      std::printf(" %d:%" PRId64 ":%" PRId64, thread.cpu, thread.activations, thread.latency_ns_max);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Live::draw(std::int64_t elapsed_ns, const SoFar& so_far) const {
  std::fprintf(stderr, "\r\x1b[K%s  %" PRId64, format_duration_ns(elapsed_ns).c_str(), so_far.made);
  if (so_far.latency_ns_max < 0)
    std::fputs(" points", stderr);
  else
    std::fprintf(stderr, " activations  largest latency %s",
                 format_duration_ns(so_far.latency_ns_max).c_str());
  std::fflush(stderr);
}

void Live::clear() const {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace howlate
