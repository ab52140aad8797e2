// Where the recorder runs, how large its rings are, what a full disk does to the account, and a whole run of lanes and recorder.
#include "cell/recorder.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "cell/account.hpp"
#include "core/stream_reader.hpp"
#include "sys/clock.hpp"
#include "timers/timer.hpp"

namespace howlate {
namespace {

std::unique_ptr<MeasuringThread> lane_of(const SchedPolicy& policy) {
  auto lane = std::make_unique<MeasuringThread>();
  lane->policy = policy;
  return lane;
}

std::vector<std::unique_ptr<MeasuringThread>> lanes_of(const std::vector<SchedPolicy>& policies) {
  std::vector<std::unique_ptr<MeasuringThread>> lanes;
  for (const SchedPolicy& policy : policies) lanes.push_back(lane_of(policy));
  return lanes;
}

constexpr SchedPolicy fifo(int priority) {
  return {.kind = SchedKind::fifo, .priority = priority};
}

TEST_CASE("the recorder stands on the lowest CPU that does not measure, one priority below the lowest lane") {
  const auto place = choose_recorder_place(lanes_of({fifo(80), fifo(70)}), {0, 1, 2, 3}, {0, 3});
  CHECK(place.cpus == std::vector<int>{1});
  CHECK(!place.in_gaps);
  CHECK(place.policy == fifo(69));
}

TEST_CASE("where all CPUs measure it runs in their gaps") {
  const auto place = choose_recorder_place(lanes_of({fifo(80)}), {0, 1}, {0, 1});
  CHECK(place.cpus == std::vector<int>{0, 1});
  CHECK(place.in_gaps);
}

TEST_CASE("in the gaps it is other where a lane is other, and below every deadline task") {
  CHECK(choose_recorder_place(lanes_of({fifo(80), {}}), {0}, {0}).policy == SchedPolicy{});
  CHECK(choose_recorder_place(lanes_of({fifo(80), {}}), {0}, {0}).why_other.empty());
  CHECK(choose_recorder_place(lanes_of({{.kind = SchedKind::deadline}}), {0}, {0}).policy == fifo(79));
}

TEST_CASE(
    "in the gaps of a thread with the lowest real-time priority it is no equal that would not be preempted") {
  for (const SchedKind kind : {SchedKind::fifo, SchedKind::rr}) {
    const auto place =
        choose_recorder_place(lanes_of({fifo(80), {.kind = kind, .priority = 1}}), {0, 1}, {0, 1});
    CHECK(place.in_gaps);
    CHECK(place.policy == SchedPolicy{});
    CHECK(place.why_other.find("fifo:2") != std::string::npos);
  }
  CHECK(choose_recorder_place(lanes_of({fifo(2)}), {0}, {0}).policy == fifo(1));
}

TEST_CASE("on a CPU of its own it is a real-time thread, whatever the lanes are") {
  CHECK(choose_recorder_place(lanes_of({{}}), {0, 1}, {1}).policy == fifo(79));
  CHECK(choose_recorder_place(lanes_of({fifo(50), {}}), {0, 1, 2}, {1, 2}).policy == fifo(49));
  CHECK(choose_recorder_place(lanes_of({fifo(1)}), {0, 1}, {1}).policy == fifo(1));
  CHECK(choose_recorder_place(lanes_of({{}, fifo(95)}), {0, 1, 2}, {1, 2}).policy == fifo(94));
  CHECK(choose_recorder_place(lanes_of({fifo(1)}), {0, 1}, {1}).why_other.empty());
}

CellPlan plan_of(std::int64_t period_ns, std::int64_t duration_ns, RecordMode mode, std::size_t threads = 1) {
  CellPlan plan;
  for (std::size_t i = 0; i < threads; ++i) plan.lanes.push_back(std::make_unique<MeasuringThread>());
  plan.schedule.period_ns = period_ns;
  plan.duration_ns = duration_ns;
  plan.record = mode;
  return plan;
}

TEST_CASE("a stream's ring holds ten seconds, within a bound of memory for all threads") {
  constexpr std::int64_t hour = 3'600'000'000'000;
  CHECK(choose_ring_samples(plan_of(20'000, hour, RecordMode::stream), 0).value() == std::size_t{1} << 19U);
  CHECK(choose_ring_samples(plan_of(1'000'000, hour, RecordMode::stream), 0).value() == 16384);
  CHECK(choose_ring_samples(plan_of(1'000'000'000, hour, RecordMode::stream), 0).value() == 1024);
  const auto many = choose_ring_samples(plan_of(20'000, hour, RecordMode::stream, 256), 0).value();
  CHECK(many * 256 * sizeof(Sample) <= std::size_t{1} << 30U);
}

TEST_CASE("rings of less than ten seconds are told") {
  constexpr std::int64_t hour = 3'600'000'000'000;
  for (const std::size_t threads : {1U, 40U, 256U}) {
    const CellPlan plan = plan_of(20'000, hour, RecordMode::stream, threads);
    const std::size_t samples = choose_ring_samples(plan, 0).value();
    CAPTURE(threads);
    CHECK(short_ring_warning(plan, samples).empty() == (samples * 20'000 >= 10'000'000'000));
    CHECK(short_ring_warning(plan, samples).empty() == (threads <= 42));
  }
  CHECK(short_ring_warning(plan_of(20'000, 1'000'000, RecordMode::memory, 1), 64).empty());
}

TEST_CASE("in memory mode the ring holds the whole run, or is refused with a sentence") {
  constexpr std::int64_t second = 1'000'000'000;
  CHECK(
      choose_ring_samples(plan_of(20'000, 60 * second, RecordMode::memory), std::int64_t{1} << 40).value() >=
      3'000'000);
  const auto refused = choose_ring_samples(plan_of(20'000, 60 * second, RecordMode::memory), 10 << 20);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ExitCode::not_possible);
  const CellPlan minute = plan_of(20'000, 60 * second, RecordMode::memory);
  CHECK(choose_ring_samples(minute, std::int64_t{1} << 30).ok());
  CHECK(!choose_ring_samples(minute, std::int64_t{1} << 30, std::size_t{1} << 30).ok());
}

// A lane's body that pushes so many samples as fast as it can: every 10th release is an overrun.
constexpr std::int64_t made = 50'000;
Status make_samples(LoopContext& loop) {
  loop.release_at_max = 0;
  loop.latency_ns_max = 0;
  Schedule walk = loop.schedule;
  for (std::int64_t i = 0; i < made; ++i) {
    const std::int64_t overruns = i / 9;
    while (walk.index() < i + overruns) walk.advance();
    const auto dropped = static_cast<std::uint32_t>(loop.dropped);
    const Sample one{walk.index(), walk.offset_ns(), i, 0, overruns, dropped, 0};
    if (!loop.ring->push(one)) ++loop.dropped;
    ++loop.activations;
    loop.latency_ns_max = i;
    loop.release_at_max = i + overruns;
    loop.overruns = overruns;
  }
  loop.due_ns = walk.release_ns();
  loop.stop_reason = StopReason::activations;
  return {};
}

constexpr ColumnSpec columns[] = {{"release", ColumnType::i64, ""},
                                  {"release_ns", ColumnType::i64, ""},
                                  {"latency_ns", ColumnType::i64, ""},
                                  {"response_ns", ColumnType::i64, ""},
                                  {"flags", ColumnType::u8, ""}};

// Runs two lanes of make_samples() into `path` and answers with what does not agree.
struct RunResult {
  std::vector<std::string> wrong;
  std::int64_t recorded = 0;
  std::int64_t lost = 0;
  bool failed = false;
};
RunResult run_lanes(const std::string& path, std::size_t ring_samples, bool dither = false) {
  CellPlan plan = plan_of(20'000, 0, RecordMode::stream, 2);
  plan.schedule.dither = dither;
  plan.lanes[1]->stagger_ns = 7'000;
  for (auto& lane : plan.lanes) lane->run = make_samples;
  auto wake_fd = WakeFd::make();
  auto file = AppendFile::create(path);
  REQUIRE(wake_fd.ok());
  REQUIRE(file.ok());
  Sink sink(std::move(*file));
  LoadSet loads;
  SystemSampler sampler({Root(), {0}, {0}, true, 2, 100, 1}, loads);
  Lanes lanes(Root(), *wake_fd);
  REQUIRE(lanes.make(plan.lanes, ring_samples).ok());
  REQUIRE(lanes.start(read_affinity()).ok());
  Recorder recorder(plan, columns, lanes, sampler, sink, *wake_fd);
  REQUIRE(recorder.start({read_affinity(), true, {}, {}}, Root()).ok());
  recorder.begin([](std::int64_t) { return std::string("{}"); });
  const Fd nothing;
  while (!lanes.group().ended())
    static_cast<void>(wake_fd->wait(nothing, monotonic_now_ns() + 1'000'000'000));
  lanes.group().join();
  recorder.finish();
  RunResult result;
  result.failed = recorder.failed();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto account = make_account(static_cast<int>(i), *plan.lanes[i], {}, recorder.tally(i),
                                      {recorder.count_releases(i), recorder.table(i).lost()});
    const auto wrong = check_account(account, recorder.tally(i), recorder.table(i));
    result.wrong.insert(result.wrong.end(), wrong.begin(), wrong.end());
    result.recorded += account.recorded;
    result.lost += account.dropped;
  }
  return result;
}

TEST_CASE("two lanes at full speed into large rings: every sample is kept and the accounts agree") {
  const std::string path = std::filesystem::temp_directory_path() / "howlate-unit-recorder";
  const RunResult result = run_lanes(path, 1U << 17U);
  std::filesystem::remove(path);
  CHECK(result.wrong.empty());
  CHECK(result.recorded == 2 * made);
  CHECK(result.lost == 0);
}

TEST_CASE(
    "the releases of a dithered schedule are counted as its samples are taken, also where some were "
    "dropped") {
  const std::string path = std::filesystem::temp_directory_path() / "howlate-unit-recorder";
  for (const std::size_t ring_samples : {std::size_t{256}, std::size_t{1} << 17U}) {
    const RunResult result = run_lanes(path, ring_samples, true);
    std::filesystem::remove(path);
    CHECK(result.wrong.empty());
    CHECK(result.recorded + result.lost == 2 * made);
  }
}

TEST_CASE("into small rings samples are dropped, counted, and the accounts agree") {
  const std::string path = std::filesystem::temp_directory_path() / "howlate-unit-recorder";
  const RunResult result = run_lanes(path, 256);
  std::filesystem::remove(path);
  CHECK(result.wrong.empty());
  CHECK(result.recorded + result.lost == 2 * made);
  CHECK(result.lost > 0);
}

TEST_CASE("what cannot be written is dropped, and the accounts agree") {
  const RunResult result = run_lanes("/dev/full", 1U << 17U);
  CHECK(result.failed);
  CHECK(result.wrong.empty());
  CHECK(result.recorded == 0);
  CHECK(result.lost == 2 * made);
}

TEST_CASE("an account that does not agree is told") {
  MeasuringThread lane;
  lane.loop.activations = 2;
  lane.loop.latency_ns_max = 9;
  lane.loop.release_at_max = 1;
  Tally tally({.period_ns = 1000});
  TableWriter table(0, columns, 8);
  Sink sink;
  for (std::int64_t i = 0; i < 2; ++i) {
    tally.add({i, i * 1000, 8 + i, 0, 0, 0, 0});
    table.add({i, i * 1000, 8 + i, 0, 0});
  }
  table.flush(sink, tally.totals());
  CHECK(check_account(make_account(0, lane, {}, tally, {2, 0}), tally, table).empty());
  CHECK(check_account(make_account(0, lane, {}, tally, {3, 0}), tally, table).size() == 1);
  lane.loop.overruns = 1;
  lane.loop.latency_ns_max = 10;
  CHECK(check_account(make_account(0, lane, {}, tally, {3, 0}), tally, table).size() == 1);
  lane.loop.activations = 3;
  CHECK(check_account(make_account(0, lane, {}, tally, {3, 0}), tally, table).size() == 3);
}

}  // namespace
}  // namespace howlate
