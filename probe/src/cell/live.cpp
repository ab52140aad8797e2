#include "cell/live.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/text.hpp"

namespace howlate {

namespace {
constexpr std::int64_t second_ns = 1'000'000'000;
}

Live::Live(const Params& params)
    : terminal_(::isatty(STDERR_FILENO) == 1 && !params.flag("quiet") && !params.flag("progress")),
      progress_(params.flag("progress")) {}

void Live::begin(std::int64_t t0_ns) {
  t0_ns_ = t0_ns;
  due_ns_ = t0_ns + second_ns;
}

void Live::show(std::int64_t now_ns, std::int64_t activations, std::int64_t latency_ns_max) {
  if (now_ns < due_ns_) return;
  due_ns_ = now_ns + second_ns;
  if (progress_) {
    std::printf("progress %" PRId64 " %" PRId64 " %" PRId64 "\n", activations, now_ns - t0_ns_,
                std::max<std::int64_t>(latency_ns_max, 0));
    std::fflush(stdout);
  }
  if (!terminal_) return;
  if (latency_ns_max < 0) {
    std::fprintf(stderr, "\r\x1b[K%s  %" PRId64 " points", format_duration_ns(now_ns - t0_ns_).c_str(),
                 activations);
    std::fflush(stderr);
    return;
  }
  std::fprintf(stderr, "\r\x1b[K%s  %" PRId64 " activations  largest latency %s",
               format_duration_ns(now_ns - t0_ns_).c_str(), activations,
               format_duration_ns(latency_ns_max).c_str());
  std::fflush(stderr);
}

void Live::clear() const {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace howlate
