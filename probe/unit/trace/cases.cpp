// Which samples are kept as cases.
#include "trace/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/random.hpp"

namespace howlate {
namespace {

constexpr std::int64_t t0_ns = 1'000'000'000;

Sample sample_of(std::int64_t release, std::int64_t latency_ns) {
  return {release, release * 1'000'000, latency_ns, 0, 0, 0, 0};
}

std::vector<std::int64_t> latencies(const Cases& cases, std::size_t thread = 0) {
  std::vector<std::int64_t> out;
  for (const Case& one : cases.of(thread)) out.push_back(one.latency_ns);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_CASE("the worst of each thread are kept, whatever their order") {
  for (const std::size_t worst : {0U, 1U, 3U, 20U, 200U}) {
    Cases cases({.threads = 2, .worst = worst});
    SplitMix random(worst + 1);
    std::vector<std::int64_t> all[2];
    for (std::int64_t release = 0; release < 500; ++release)
      for (std::size_t thread = 0; thread < 2; ++thread) {
        const auto latency_ns = static_cast<std::int64_t>(random.below(100));
        all[thread].push_back(latency_ns);
        cases.note(thread, sample_of(release, latency_ns), t0_ns);
      }
    for (std::size_t thread = 0; thread < 2; ++thread) {
      std::sort(all[thread].rbegin(), all[thread].rend());
      all[thread].resize(std::min<std::size_t>(worst, all[thread].size()));
      std::reverse(all[thread].begin(), all[thread].end());
      CHECK(latencies(cases, thread) == all[thread]);
    }
    CHECK(cases.lost() == 0);
  }
}

TEST_CASE("above the threshold all are kept beside the worst of the others, up to a number") {
  Cases cases({.worst = 2, .above_ns = 100, .above_max = 3});
  std::int64_t release = 0;
  for (const std::int64_t latency_ns : {5, 101, 7, 102, 100, 103, 9})
    cases.note(0, sample_of(release++, latency_ns), t0_ns);
  CHECK(latencies(cases) == std::vector<std::int64_t>{9, 100, 101, 102, 103});
  CHECK(cases.lost() == 0);
}

TEST_CASE("what is above the threshold and finds no room is counted, unless it is among the worst") {
  Cases cases({.worst = 1, .above_ns = 100, .above_max = 2});
  std::int64_t release = 0;
  for (const std::int64_t latency_ns : {101, 102, 110, 105, 120})
    cases.note(0, sample_of(release++, latency_ns), t0_ns);
  CHECK(latencies(cases) == std::vector<std::int64_t>{101, 102, 120});
  CHECK(cases.lost() == 2);
}

TEST_CASE("a sample that was noted before is passed over") {
  Cases cases({.worst = 5});
  for (int turn = 0; turn < 2; ++turn)
    for (const std::int64_t release : {0, 1, 3}) cases.note(0, sample_of(release, 10 + release), t0_ns);
  CHECK(latencies(cases) == std::vector<std::int64_t>{10, 11, 13});
}

TEST_CASE("a case's stretch is from the margin before the release to the margin after the time stamp") {
  Cases cases({.worst = 1, .margin_ns = 10});
  cases.note(0, sample_of(2, 500), t0_ns);
  const Case& one = cases.of(0).front();
  CHECK(one.release_ns == t0_ns + 2'000'000);
  CHECK(one.from_ns == one.release_ns - 10);
  CHECK(one.to_ns == one.release_ns + 510);
}

}  // namespace
}  // namespace howlate
