#include "points/threads.hpp"

#include <algorithm>

#include "sys/host_word.hpp"
#include "timers/sleep.hpp"

namespace howlate {

std::size_t PointsThreads::memory_bytes(const PointsPlan& plan) {
  return plan.columns.size() * static_cast<std::size_t>(plan.points) * sizeof(std::int64_t);
}

Status PointsThreads::make(const PointsPlan& plan) {
  for (const PointsThreadSpec& spec : plan.threads) {
    auto run = std::make_unique<PointsThreadRun>(spec);
    run->seen.stop_ = group_.stop_flag();
    if (spec.records) {
      if (auto* const word = take_host_word(); word != nullptr) run->seen.live_ = word;
      run->seen.looks_ = take_host_word();
      auto pages = TouchedPages::make(memory_bytes(plan));
      if (!pages) return pages.error();
      run->pages = std::move(*pages);
      run->seen.wanted_ = plan.points;
      for (std::size_t i = 0; i < plan.columns.size(); ++i)
        run->seen.columns_.push_back(run->pages.as<std::int64_t>().data() +
                                     i * static_cast<std::size_t>(plan.points));
    }
    runs_.push_back(std::move(run));
  }
  return {};
}

Status PointsThreads::start() {
  for (auto& run : runs_) {
    const ThreadSpec spec{run->spec.cpus, run->spec.policy, 0, run->spec.name, {}};
    if (run->spec.records) recording_.fetch_add(1, std::memory_order_relaxed);
    if (Status made = group_.start(*run, spec, [this, &one = *run] { body(one); }); !made) return made;
  }
  group_.await();
  return {};
}

void PointsThreads::body(PointsThreadRun& run) {
  const SignalMask kick_unblocked(SIG_UNBLOCK, {kick_signal()});
  ThreadCounters before = read_thread_counters(root_);
  if (!group_.pass()) return;
  touch_from_here(std::as_writable_bytes(std::span(&run, 1)));
  if (run.spec.records) touch_from_here(run.pages.as<std::byte>());
  run.seen.at_t0_ = &at_t0_;
  if (run.spec.records && !run.seen.warm_) at_t0_();
  const std::int64_t migrations = before.migrations, place = before.place;
  before = read_thread_usage();
  run.status = run.spec.body(run.seen);
  run.ended_ns = monotonic_now_ns();
  const ThreadCounters after = read_thread_counters(root_);  // before the loads' work is read
  one_ended(run);
  if (run.seen.before_) before = *run.seen.before_;
  before.migrations = migrations;
  before.place = place;
  run.counters = after - before;
}

// The others end with the last that records, or with the first failure; told from here, since the main thread may have no CPU while
// one of them spins.
void PointsThreads::one_ended(const PointsThreadRun& run) {
  const bool last = run.spec.records && recording_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (last && over_) over_();
  if (last || !run.status) group_.stop();
}

void PointsThreads::open(const PointsPlan& plan, std::int64_t t0_ns) {
  for (auto& run : runs_) {
    run->seen.t0_ns_ = t0_ns;
    run->seen.warm_ = plan.warm_up_ns > 0;
    if (plan.duration_ns != 0) run->seen.end_ns_ = t0_ns + plan.duration_ns;
  }
  group_.open();
}

bool PointsThread::over_at(std::int64_t now_ns) {
  if (now_ns < t0_ns_) return false;
  warm_ = false;
  (*at_t0_)();
  before_ = read_thread_usage();
  return true;
}

void PointsThread::rest_until_t0() {
  constexpr std::int64_t look_again_ns = 10'000'000;
  while (is_warming_up()) sleep_until_ns(std::min(t0_ns_, monotonic_now_ns() + look_again_ns));
}

std::int64_t PointsThreads::points() const {
  std::int64_t sum = 0;
  for (const auto& run : runs_) sum += run->seen.live_->load(std::memory_order_relaxed);
  return sum;
}

}  // namespace howlate
