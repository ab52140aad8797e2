#include "cell/tally.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

Sample sample(std::int64_t release, std::int64_t latency, std::int64_t overruns = 0,
              std::uint32_t dropped = 0) {
  return {release, release * 1000, latency, 0, overruns, dropped, 0};
}

TEST_CASE("the account up to a sample is the releases up to it") {
  Tally tally({.period_ns = 1000});
  tally.add(sample(0, 10));
  tally.add(sample(3, 20, 2));
  tally.add(sample(6, 30, 2, 2));
  CHECK(tally.totals().releases == 7);
  CHECK(tally.totals().recorded == 3);
  CHECK(tally.totals().overruns == 2);
  CHECK(tally.totals().dropped == 2);
  CHECK(tally.unbalanced() == 0);
}

TEST_CASE("a release that nobody accounted for is seen") {
  Tally tally({.period_ns = 1000});
  tally.add(sample(0, 10));
  tally.add(sample(2, 10));
  CHECK(tally.unbalanced() == 1);
}

TEST_CASE("a deadline is the latency's, or the response's where there is work") {
  Sample one = sample(0, 100);
  one.response_ns = 900;
  Tally latency({.period_ns = 1000, .deadline_ns = 500});
  latency.add(one);
  CHECK(latency.deadline_misses() == 0);
  Tally response({.period_ns = 1000, .deadline_ns = 500, .has_work = true});
  response.add(one);
  CHECK(response.deadline_misses() == 1);
}

TEST_CASE("where the maximum was is told from the cell's t0, not from the lane's first release") {
  Tally tally({.period_ns = 1000, .stagger_ns = 250});
  tally.add(sample(0, 10));
  tally.add(sample(3, 900, 2));
  CHECK(tally.max_at_ns() == 3250);
}

TEST_CASE("the maximum knows its release, and an activation later than a period is counted") {
  Tally tally({.period_ns = 1000});
  tally.add(sample(0, 10));
  tally.add(sample(1, 1001));
  tally.add(sample(2, 1000));
  CHECK(tally.max_at_ns() == 1000);
  CHECK(tally.period_exceeded() == 1);
}

}  // namespace
}  // namespace howlate
