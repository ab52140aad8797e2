// What one activation costs in the parts that can be timed apart: the schedule's step, the ring between measuring
// thread and recorder, and the recorder's own work a sample (tally, rows, frame with its checksum).
#include <benchmark/benchmark.h>

#include <vector>

#include "cell/tally.hpp"
#include "core/histogram.hpp"
#include "core/ring.hpp"
#include "core/sample.hpp"
#include "core/schedule.hpp"
#include "core/stream.hpp"

namespace howlate {
namespace {

constexpr std::int64_t period_ns = 20'000;

void schedule_step(benchmark::State& state, bool dither) {
  Schedule schedule({.t0_ns = 0, .period_ns = period_ns, .dither = dither, .seed = 7});
  for (auto _ : state) {
    schedule.advance();
    benchmark::DoNotOptimize(schedule.release_ns());
  }
}
BENCHMARK_CAPTURE(schedule_step, even, false);
BENCHMARK_CAPTURE(schedule_step, dithered, true);

// Pushed one by one, taken in runs of `many`, as the recorder does it every 50 ms.
void ring_through(benchmark::State& state) {
  const auto many = static_cast<std::size_t>(state.range(0));
  std::vector<Sample> storage(std::size_t{1} << 14U);
  Ring<Sample> ring{std::span(storage)};
  std::int64_t release = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < many; ++i, ++release) {
      if (!ring.push({release, release * period_ns, 3000, 0, 0, 0, 0}))
        return state.SkipWithError("the ring is full");
    }
    for (std::size_t left = many; left > 0;) {
      const auto found = ring.peek();
      benchmark::DoNotOptimize(found.data());
      left -= found.size();
      ring.pop(found.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ring_through)->Arg(1)->Arg(2500);

// Latencies of many sizes, so that the bins are not all one.
std::int64_t some_latency(std::int64_t n) {
  return 1'500 + (n * 2'654'435'761) % 60'000;
}

void histogram_add(benchmark::State& state) {
  Histogram histogram;
  std::int64_t n = 0;
  for (auto _ : state) histogram.add(some_latency(n++));
  benchmark::DoNotOptimize(histogram.count());
}
BENCHMARK(histogram_add);

void tally_add(benchmark::State& state) {
  Tally tally({.period_ns = period_ns});
  std::int64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(tally.add({n, n * period_ns, some_latency(n), 0, 0, 0, 0}));
    ++n;
  }
  if (tally.unbalanced() != 0) state.SkipWithError("the account does not balance");
}
BENCHMARK(tally_add);

// A batch of cyclic's columns with its checksum: the time is a batch's, the rate the bytes of its frame.
void stream_encode(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  constexpr ColumnType types[] = {ColumnType::i64, ColumnType::i64, ColumnType::i64, ColumnType::i64,
                                  ColumnType::u8};
  const std::vector<std::int64_t> column(rows, 123'456);
  const std::vector<std::span<const std::int64_t>> columns(std::size(types), column);
  std::vector<std::byte> frame;
  frame.reserve(frame_head_bytes + static_cast<std::size_t>(batch_bytes(types, rows)));
  for (auto _ : state) {
    frame.clear();
    StreamEncoder::batch(frame, 0, {}, types, columns);
    benchmark::DoNotOptimize(frame.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(frame.size()));
}
BENCHMARK(stream_encode)->Arg(50)->Arg(4096);

}  // namespace
}  // namespace howlate

BENCHMARK_MAIN();
