#include "cell/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/stream.hpp"
#include "core/text.hpp"
#include "sys/clock.hpp"

namespace howlate {

namespace {

enum Phase : int { waiting, recording, finishing };

constexpr std::int64_t ring_ns = 10'000'000'000;
constexpr std::size_t ring_samples_min = 1024;
constexpr int usual_priority = 80;  // of a measuring thread: where none has a real-time priority
constexpr std::size_t rings_bytes_max = std::size_t{1} << 30U;  // of all threads together, in stream mode

// One below the lowest real-time policy of the measuring threads: the recorder must stay below them.
SchedPolicy policy_below(const std::vector<std::unique_ptr<MeasuringThread>>& lanes) {
  int lowest = 0;
  for (const auto& lane : lanes)
    if (lane->policy.real_time() && lane->policy.kind != SchedKind::deadline)
      lowest = lowest == 0 ? lane->policy.priority : std::min(lowest, lane->policy.priority);
  if (lowest == 0) lowest = usual_priority;
  return {.kind = SchedKind::fifo, .priority = std::max(lowest - 1, 1)};
}

// Where every CPU measures the recorder must never stand in the way of a measuring thread: among equals of
// SCHED_FIFO none is preempted for the other, and an ordinary thread is no equal of a real-time one.
void stay_below_in_gaps(RecorderPlace& place, const std::vector<std::unique_ptr<MeasuringThread>>& lanes) {
  for (const auto& lane : lanes) {
    if (!lane->policy.real_time()) {
      place.policy = {};
      place.why_other.clear();
      return;
    }
    if (lane->policy.kind == SchedKind::deadline || lane->policy.priority > 1) continue;
    place.policy = {};
    place.why_other =
        "there is no real-time priority below the measuring threads' 1: choose fifo:2 or rr:2 at least, or "
        "leave "
        "a CPU free of measuring";
  }
}

// Releases until the run's end, with room for what dither does to their number.
double expected_samples(const CellPlan& plan) {
  double many = plan.duration_ns == 0
                    ? INFINITY
                    : static_cast<double>(plan.duration_ns) / static_cast<double>(plan.schedule.period_ns);
  if (plan.schedule.dither) many += 10 * std::sqrt(many) + 16;
  for (const auto& lane : plan.lanes)
    many = std::min(many, static_cast<double>(lane->loop.activations_wanted));
  return many + 1;
}

}  // namespace

RecorderPlace choose_recorder_place(const std::vector<std::unique_ptr<MeasuringThread>>& lanes,
                                    const std::vector<int>& allowed, const std::vector<int>& measuring) {
  RecorderPlace place{allowed, true, policy_below(lanes), {}};
  for (const int cpu : allowed) {
    if (std::find(measuring.begin(), measuring.end(), cpu) != measuring.end()) continue;
    place.cpus = {cpu};
    place.in_gaps = false;
    break;
  }
  if (place.in_gaps) stay_below_in_gaps(place, lanes);
  return place;
}

Result<std::size_t> choose_ring_samples(const CellPlan& plan, std::int64_t memory_available,
                                        std::size_t other_bytes) {
  const std::size_t threads = plan.lanes.size();
  if (plan.record == RecordMode::memory) {
    const double bytes = std::exp2(std::ceil(std::log2(expected_samples(plan)))) * sizeof(Sample) *
                             static_cast<double>(threads) +
                         static_cast<double>(other_bytes);
    if (Status enough = check_available(
            "the whole run in memory (--record memory) needs", bytes, memory_available,
            "Measure for a shorter time or with a longer period, or leave it at --record stream");
        !enough)
      return enough.error();
    return std::bit_ceil(static_cast<std::size_t>(expected_samples(plan)));
  }
  const auto wanted = static_cast<std::size_t>(ring_ns / plan.schedule.period_ns + 1);
  const std::size_t bound = std::bit_floor(rings_bytes_max / sizeof(Sample) / threads);
  return std::min(std::bit_ceil(std::max(wanted, ring_samples_min)), bound);
}

std::string short_ring_warning(const CellPlan& plan, std::size_t ring_samples) {
  const auto samples = static_cast<std::int64_t>(ring_samples);
  if (plan.record == RecordMode::memory || samples > ring_ns / plan.schedule.period_ns) return {};
  return "the ring of each of the " + std::to_string(plan.lanes.size()) + " threads holds " +
         format_duration_ns(samples * plan.schedule.period_ns) + " and not " + format_duration_ns(ring_ns) +
         ", within " + std::to_string(rings_bytes_max >> 20U) +
         " MiB for all: a recorder that is held up for longer drops samples";
}

Recorder::Recorder(const CellPlan& plan, std::span<const ColumnSpec> columns, Lanes& lanes,
                   SystemSampler& sampler, Sink& sink, WakeFd& wake_fd)
    : plan_(plan), lanes_(lanes), sampler_(sampler), sink_(sink), wake_fd_(wake_fd) {
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const TallySpec tally{plan.schedule.period_ns, plan.deadline_ns, plan.has_work,
                          plan.lanes[lane]->stagger_ns};
    lanes_record_.push_back({TableWriter(static_cast<std::uint16_t>(lane), columns, TableWriter::batch_rows),
                             Tally(tally),
                             0,
                             {}});
  }
  opening_.reserve(std::size_t{64} << 10U);
}

Status Recorder::start(const RecorderPlace& place, const Root& root) {
  if (place.in_gaps) {
    sink_.write_in_pieces_of(gap_write_bytes);
    releases_.emplace();
  }
  ThreadSpec spec{place.cpus, place.policy, 0, "recorder", {}};
  auto thread = RtThread::start(
      spec, [this] { body(); }, root);
  if (!thread && place.policy.real_time()) {
    not_had_ = thread.error().message;
    spec.policy = {};
    thread = RtThread::start(
        spec, [this] { body(); }, root);
  }
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

void Recorder::begin(std::function<std::string(std::int64_t)> header) {
  header_ = std::move(header);
  phase_.store(recording, std::memory_order_release);
  phase_.notify_all();
}

void Recorder::finish() {
  phase_.store(finishing, std::memory_order_release);
  phase_.notify_all();
  thread_.join();
}

void Recorder::body() {
  phase_.wait(waiting, std::memory_order_acquire);
  if (!header_) return;  // the cell ended before it began
  open();
  std::int64_t wake = monotonic_now_ns();
  while (phase_.load(std::memory_order_acquire) != finishing) {
    const std::int64_t now_ns = monotonic_now_ns();
    wake = std::max(wake + wake_ns, now_ns);
    if (releases_) wake = clear_of_releases(*releases_, wake, clear_ns);
    if (near_) wake = std::clamp(t0_ns() - near_ns, now_ns, wake);
    sleep_until_ns(wake);
    tell_if_near();
    if (plan_.record == RecordMode::stream) drain_all();
    look_for_cases();
    sampler_.tick(monotonic_now_ns());
    if (plan_.record == RecordMode::stream) sampler_.flush(sink_);
  }
  sampler_.end(monotonic_now_ns());
  drain_all();
  sampler_.flush(sink_);
}

void Recorder::tell_if_near() {
  const std::int64_t now_ns = monotonic_now_ns();
  if (!near_ || now_ns < t0_ns() - near_ns) return;
  // Among a load's tasks this thread may come late. What it would read then is of a rest of the cell; so nobody is told.
  if (now_ns <= t0_ns() + near_ns) near_();
  near_ = nullptr;
}

void Recorder::open() {
  if (near_ && plan_.first_ns + plan_.warm_up_ns <= near_ns) {
    near_();
    near_ = nullptr;
  }
  const std::int64_t now_ns = monotonic_now_ns();
  const std::int64_t t0_ns = now_ns + plan_.first_ns + plan_.warm_up_ns;
  for (std::size_t lane = 0; lane < lanes_record_.size(); ++lane) {
    ScheduleSpec schedule = plan_.schedule;
    schedule.t0_ns = t0_ns + plan_.lanes[lane]->stagger_ns;
    lanes_record_[lane].counted = Schedule(schedule);
  }
  const bool spins = plan_.schedule.window_on_ns != 0;
  if (spins || lanes_record_.empty()) releases_.reset();
  if (releases_) releases_ = lanes_record_.front().counted;
  lanes_.open(plan_, t0_ns);
  t0_ns_.store(t0_ns, std::memory_order_release);
  StreamEncoder::magic(opening_);
  StreamEncoder::header(opening_, header_(t0_ns));
  if (!sink_.put(opening_)) {
    failed_.store(true, std::memory_order_release);
    wake_fd_.ring();
  }
  sampler_.begin(t0_ns, now_ns);
}

void Recorder::drain_all() {
  for (std::size_t lane = 0; lane < lanes_record_.size(); ++lane) drain(lane);
}

void Recorder::drain(std::size_t lane) {
  LaneRun& run = *lanes_.runs()[lane];
  LaneRecord& record = lanes_record_[lane];
  const std::int64_t stagger_ns = run.lane.stagger_ns;
  // No more than what was there at the start: a lane that is quicker than we are must not hold us here.
  for (std::size_t left = run.ring.capacity(); left > 0;) {
    const std::span<const Sample> all = run.ring.peek();
    if (all.empty()) break;
    const auto found = all.first(std::min({all.size(), left, TableWriter::batch_rows - record.table.rows()}));
    for (const Sample& sample : found) {
      const std::int64_t flags = record.tally.add(sample);
      if (watch_ != nullptr) watch_->note(lane, sample, record.counted.spec().t0_ns);
      if (run.bins) run.bins->add(sample.latency_ns);
      record.table.add(
          {sample.release, sample.release_ns + stagger_ns, sample.latency_ns, sample.response_ns, flags});
    }
    // A little at a time: at the end of a day an uneven schedule would be walked for as long as seconds.
    record.counted.pass(record.counted.spec().t0_ns + found.back().release_ns);
    run.ring.pop(found.size());
    left -= found.size();
    if (record.table.full()) flush(record);
  }
  flush(record);
}

void Recorder::look_for_cases() {
  if (watch_ == nullptr) return;
  for (std::size_t lane = 0; plan_.record == RecordMode::memory && lane < lanes_record_.size(); ++lane) {
    LaneRecord& record = lanes_record_[lane];
    const auto samples = lanes_.runs()[lane]->ring.peek();
    for (const Sample& sample : samples.subspan(record.looked))
      watch_->note(lane, sample, record.counted.spec().t0_ns);
    record.looked = samples.size();
  }
  watch_->round(monotonic_now_ns(), [this] { stay_clear(); });
}

void Recorder::stay_clear() {
  if (!releases_) return;
  const std::int64_t now_ns = monotonic_now_ns();
  const std::int64_t until_ns = clear_of_releases(*releases_, now_ns, page_clear_ns);
  if (until_ns > now_ns) sleep_until_ns(until_ns);
}

std::int64_t Recorder::count_releases(std::size_t lane) {
  Schedule& counted = lanes_record_[lane].counted;
  counted.pass(lanes_.runs()[lane]->lane.loop.due_ns);
  return counted.index();
}

void Recorder::flush(LaneRecord& record) {
  if (record.table.flush(sink_, record.tally.totals())) return;
  if (failed_.exchange(true, std::memory_order_acq_rel)) return;
  wake_fd_.ring();
}

}  // namespace howlate
