#include "cell/live.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "core/text.hpp"
#include "sys/clock.hpp"

namespace howlate {

namespace {

// Of the lines for a program; of very many threads they are long.
constexpr std::int64_t line_ns = 200'000'000;
constexpr std::size_t many_threads = 32;

}  // namespace

Live::Live(const Params& params)
    : terminal_(::isatty(STDERR_FILENO) == 1 && !params.flag("quiet") && !params.flag("progress")),
      progress_(params.flag("progress")) {}

void Live::begin(std::int64_t t0_ns) {
  t0_ns_ = t0_ns;
  due_ns_ = t0_ns + (progress_ ? line_ns : second_ns);
}

void Live::show(std::int64_t now_ns, const SoFar& so_far) {
  due_ns_ = now_ns + (progress_ && so_far.threads.size() <= many_threads ? line_ns : second_ns);
  if (progress_) print_progress(now_ns - t0_ns_, so_far);
  if (terminal_) draw(now_ns - t0_ns_, so_far);
}

void Live::print_progress(std::int64_t elapsed_ns, const SoFar& so_far) {
  printed_.resize(so_far.threads.size());
  std::printf("progress %" PRId64 " %" PRId64 " %" PRId64, so_far.made, elapsed_ns,
              std::max<std::int64_t>(so_far.latency_ns_max, 0));
  for (std::size_t at = 0; at < so_far.threads.size(); ++at) {
    const SoFar::OfThread& thread = so_far.threads[at];
    std::printf(" %d:%" PRId64 ":%" PRId64, thread.cpu, thread.activations, thread.latency_ns_max);
    if (thread.bins != nullptr) print_bins(at, *thread.bins);
  }
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Live::print_bins(std::size_t thread, const LiveBins& bins) {
  char mark = ':';
  for (std::size_t bin = 0; bin < LiveBins::count; ++bin) {
    const std::uint64_t so_far = bins.in_bin(bin);
    const std::uint64_t more = so_far - std::exchange(printed_[thread][bin], so_far);
    if (more == 0) continue;
    std::printf("%c%zu+%" PRIu64, mark, bin, more);
    mark = ',';
  }
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
