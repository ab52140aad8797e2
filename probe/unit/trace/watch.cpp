// What the recorder keeps of the trace, and what the tables say of it: against rings that are written, overwritten and read.
#include "trace/watch.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>

#include "core/random.hpp"
#include "trace/decode.hpp"
#include "trace/made_page.hpp"

namespace howlate {
namespace {

constexpr std::uint16_t event_id = 7;

// Rings of some pages, of which the oldest is overwritten.
class FakeRings : public TracePages {
 public:
  explicit FakeRings(std::size_t pages) : pages_max_(pages) {}

  bool read(int cpu, std::span<std::byte> page) override {
    Ring& ring = rings_[cpu];
    ++reads;
    if (ring.pages.empty()) return false;
    const auto bytes = ring.pages.front().made.bytes(std::exchange(ring.lost, 0));
    std::copy(bytes.begin(), bytes.end(), page.begin());
    ring.pages.pop_front();
    return true;
  }

  [[nodiscard]] bool blocked(int cpu) const override { return cpu == blocked_cpu; }

  void compare_clocks() override { times_.add(stamp_of(now_ns), now_ns); }
  [[nodiscard]] const TickTimes* times() const override { return by_counter ? &times_ : nullptr; }

  void record(int cpu, std::int64_t time_ns) {
    Ring& ring = rings_[cpu];
    if (ring.pages.empty() || ring.pages.back().events == events_each) {
      ring.pages.push_back({MadePage(stamp_of(time_ns)), 0, time_ns});
      if (ring.pages.size() > pages_max_) {
        ring.lost += ring.pages.front().events;
        ring.pages.pop_front();
      }
    }
    Page& page = ring.pages.back();
    page.made.event(static_cast<std::uint32_t>(stamp_of(time_ns) - stamp_of(page.last_ns)), event_id);
    page.last_ns = time_ns;
    ++page.events;
    all[cpu].push_back(time_ns);
  }

  std::map<int, std::vector<std::int64_t>> all;  // what was ever recorded
  int reads = 0;
  int blocked_cpu = -1;  // behind what was recorded there are events that cannot be read
  // Times are by a counter, of which the clock has two ticks in a nanosecond, and from a round on three.
  bool by_counter = false;
  std::int64_t now_ns = 0;

 private:
  [[nodiscard]] std::int64_t stamp_of(std::int64_t ns) const {
    constexpr std::int64_t slewed_ns = 350'000'000;
    return by_counter ? 2 * ns + std::max<std::int64_t>(ns - slewed_ns, 0) : ns;
  }
  static constexpr std::int64_t events_each = 8;
  struct Page {
    MadePage made;
    std::int64_t events, last_ns;
  };
  struct Ring {
    std::deque<Page> pages;
    std::int64_t lost = 0;
  };
  std::size_t pages_max_;
  std::map<int, Ring> rings_;
  TickTimes times_;
};

EventPlan plan_of_one() {
  EventPlan plan;
  TracedEvent event{"sched", "something", EventTask::anybody, {}, {}};
  event.format = *parse_trace_format("name: something\nID: 7\nformat:\n" + common_fields);
  plan.events.push_back(event);
  return plan;
}

WatchSpec spec_of(std::size_t worst, std::vector<std::vector<int>> cpus) {
  WatchSpec spec;
  spec.cpus = std::move(cpus);
  spec.cases.threads = spec.cpus.size();
  spec.cases.worst = worst;
  return spec;
}

TraceWatch watch_of(const WatchSpec& spec, TracePages& rings, std::size_t pages) {
  return {spec, rings, std::move(*TouchedPages::make(pages * 4096))};
}

Sample sample_of(std::int64_t release, std::int64_t release_ns, std::int64_t latency_ns) {
  return {release, release_ns, latency_ns, 0, 0, 0, 0};
}

constexpr std::int64_t millisecond_ns = 1'000'000;
constexpr std::int64_t round_ns = 50 * millisecond_ns;

TEST_CASE("nobody reads while no sample is a case, and before its stretch is over") {
  FakeRings rings(100);
  TraceWatch watch = watch_of(spec_of(1, {{0}}), rings, 16);
  const auto look = [&](std::int64_t now_ns) { watch.round(now_ns, [] {}); };
  for (std::int64_t time_ns = 0; time_ns < 200 * millisecond_ns; time_ns += millisecond_ns)
    rings.record(0, time_ns);
  look(round_ns);
  CHECK(rings.reads == 0);
  watch.note(0, sample_of(0, 45 * millisecond_ns, 100'000), 0);
  look(round_ns);
  CHECK(rings.reads == 0);
  look(2 * round_ns);
  const int reads = rings.reads;
  CHECK(reads > 0);
  look(3 * round_ns);
  watch.note(0, sample_of(1, 145 * millisecond_ns, 90'000), 0);  // less late
  look(4 * round_ns);
  watch.finish();
  CHECK(rings.reads == reads);
}

TEST_CASE("each page waits for its moment") {
  FakeRings rings(100);
  TraceWatch watch = watch_of(spec_of(1, {{0}}), rings, 16);
  for (std::int64_t time_ns = 0; time_ns < 100 * millisecond_ns; time_ns += millisecond_ns)
    rings.record(0, time_ns);
  watch.note(0, sample_of(0, 45 * millisecond_ns, 100'000), 0);
  int calls = 0;
  watch.round(2 * round_ns, [&] { ++calls; });
  CHECK(calls == rings.reads);
}

TEST_CASE("cases whose events stand behind one that cannot be read say that some are lost") {
  for (const int blocked : {-1, 0}) {
    CAPTURE(blocked);
    FakeRings rings(100);
    TraceWatch watch = watch_of(spec_of(5, {{0}}), rings, 16);
    for (std::int64_t time_ns = 0; time_ns <= 30 * millisecond_ns; time_ns += millisecond_ns / 10)
      rings.record(0, time_ns);
    rings.blocked_cpu = blocked;
    watch.note(0, sample_of(0, 20 * millisecond_ns, 100'000), 0);
    watch.note(0, sample_of(1, 25 * millisecond_ns, 100'000), 0);
    watch.note(0, sample_of(2, 30 * millisecond_ns, 100'000), 0);  // its stretch ends behind what can be read
    watch.note(0, sample_of(3, 90 * millisecond_ns, 100'000), 0);  // not over yet
    watch.round(80 * millisecond_ns, [] {});
    std::vector<int> states;
    for (const Case& one : decode(watch, plan_of_one()).cases) states.push_back(one.state);
    CHECK(states == std::vector<int>{0, 0, blocked == 0 ? case_events_lost : 0, 0});
  }
}

// Samples of each thread, one a millisecond, while events come; a round each 50 ms.
void live(FakeRings& rings, TraceWatch& watch, SplitMix& random, std::int64_t until_ns,
          std::uint64_t gap_ns) {
  std::map<int, std::int64_t> next_ns;
  for (std::int64_t now_ns = 0; now_ns < until_ns; now_ns += millisecond_ns) {
    for (const auto& cpus : watch.spec().cpus)
      for (const int cpu : cpus)
        for (std::int64_t& at = next_ns[cpu]; at < now_ns;) {
          rings.record(cpu, at);
          at += 1 + static_cast<std::int64_t>(random.below(gap_ns));
        }
    for (std::size_t thread = 0; thread < watch.cases().threads(); ++thread)
      if (now_ns >= 2 * millisecond_ns)
        watch.note(thread,
                   sample_of(now_ns / millisecond_ns, now_ns - 2 * millisecond_ns,
                             static_cast<std::int64_t>(random.below(900'000))),
                   0);
    rings.now_ns = now_ns;
    if (now_ns % round_ns == 0) watch.round(now_ns, [] {});
  }
  rings.now_ns = until_ns;
  watch.finish();
}

std::int64_t recorded_in(const FakeRings& rings, const TraceWatch& watch, const Case& one) {
  std::int64_t count = 0;
  for (const int cpu : watch.spec().cpus[static_cast<std::size_t>(one.thread)])
    if (const auto all = rings.all.find(cpu); all != rings.all.end())
      count += std::count_if(all->second.begin(), all->second.end(),
                             [&](std::int64_t at) { return at >= one.from_ns && at <= one.to_ns; });
  return count;
}

TEST_CASE("all events of each case's stretch are kept, each once, by CPU and time") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    SplitMix random(seed);
    FakeRings rings(4096);
    rings.by_counter = seed % 5 < 2;
    const bool pinned = seed % 2 == 0;
    auto spec =
        spec_of(5, pinned ? std::vector<std::vector<int>>{{0}, {1}} : std::vector<std::vector<int>>{{0, 1}});
    if (seed % 3 == 0) spec.cases.above_ns = 800'000;
    TraceWatch watch = watch_of(spec, rings, 4096);
    live(rings, watch, random, 700 * millisecond_ns, seed % 4 == 0 ? 5'000'000 : 100'000);
    const EventPlan plan = plan_of_one();
    const Decoded decoded = decode(watch, plan);
    CHECK(decoded.cases.size() >= spec.cases.threads * 5);
    for (std::size_t i = 0; i < decoded.cases.size(); ++i) {
      CHECK(decoded.cases[i].state == 0);
      CHECK(decoded.events[i] == recorded_in(rings, watch, decoded.cases[i]));
    }
    for (std::size_t i = 1; i < decoded.rows.size(); ++i) {
      const EventRow &before = decoded.rows[i - 1], &row = decoded.rows[i];
      CHECK(std::pair{before.cpu, before.time_ns} < std::pair{row.cpu, row.time_ns});
    }
  }
}

TEST_CASE("what was overwritten before it was read is told, and what the tables claim is there") {
  std::map<int, int> states;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    SplitMix random(seed);
    FakeRings rings(12 + random.below(40));
    rings.by_counter = seed % 2 == 0;
    TraceWatch watch = watch_of(spec_of(10, {{0}}), rings, 256);
    live(rings, watch, random, 700 * millisecond_ns, 400'000);
    const Decoded decoded = decode(watch, plan_of_one());
    for (std::size_t i = 0; i < decoded.cases.size(); ++i) {
      const Case& one = decoded.cases[i];
      ++states[one.state];
      if ((one.state & case_nothing_kept) != 0) {
        CHECK(one.from_ns == one.to_ns);
        continue;
      }
      const auto lost = std::count_if(decoded.rows.begin(), decoded.rows.end(), [&](const EventRow& row) {
        return row.event == plan_of_one().lost_number() && row.time_ns >= one.from_ns &&
               row.time_ns <= one.to_ns;
      });
      if ((one.state & case_events_lost) == 0)
        CHECK(decoded.events[i] == recorded_in(rings, watch, one) + lost);
    }
  }
  CHECK(states[0] > 0);
  CHECK(states[case_beginning_lost] > 0);
  CHECK(states[case_nothing_kept] > 0);
}

TEST_CASE("where the memory does not suffice the cases say so, and the others are whole") {
  int empty = 0, whole = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SplitMix random(seed);
    FakeRings rings(4096);
    rings.by_counter = seed % 2 == 0;
    TraceWatch watch = watch_of(spec_of(20, {{0}}), rings, 12);
    live(rings, watch, random, 300 * millisecond_ns, 40'000);
    const Decoded decoded = decode(watch, plan_of_one());
    CHECK(watch.store().pages().size() < 12);
    for (std::size_t i = 0; i < decoded.cases.size(); ++i) {
      const Case& one = decoded.cases[i];
      if ((one.state & case_nothing_kept) != 0) {
        ++empty;
      } else {
        ++whole;
        CHECK(decoded.events[i] == recorded_in(rings, watch, one));
      }
    }
  }
  CHECK(empty > 0);
  CHECK(whole > 0);
}

}  // namespace
}  // namespace howlate
