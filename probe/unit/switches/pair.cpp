// The ways to hand over: each turn of one side is answered by one of the other, in every way, also from a process.
#include "switches/pair.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "points/ran.hpp"
#include "switches/partner.hpp"

namespace howlate {
namespace {

constexpr ColumnSpec pair_columns[] = {{"index", ColumnType::i64, ""}, {"flags", ColumnType::u8, ""}};
constexpr std::int64_t rounds = 200;

// Leads `rounds` on a thread of the frame beside another body; whether all were made.
bool lead_beside(SwitchPair& pair, const std::function<void()>& beside) {
  bool all = false;
  PointsPlan plan;
  plan.columns = pair_columns;
  plan.points = 1;
  plan.threads.push_back({"leader", {}, {}, true, [&](PointsThread& thread) -> Status {
                            pair.begin();
                            all = pair.lead(thread, rounds);
                            pair.finish();
                            return {};
                          }});
  plan.threads.push_back({"beside", {}, {}, false, [&](PointsThread&) -> Status {
                            beside();
                            return {};
                          }});
  REQUIRE(Ran(plan).status.ok());
  return all;
}

TEST_CASE("in every way the partner has as many turns as the leader gives it") {
  for (const Switch* way : switches()) {
    CAPTURE(std::string(way->name));
    if (!way->available()) continue;
    auto pair = way->make(false);
    REQUIRE(pair.ok());
    CHECK(lead_beside(**pair, [&] { (*pair)->follow(); }));
    CHECK((*pair)->control().follow_turns.load() == rounds);
    CHECK((*pair)->control().error.load() == 0);
  }
}

// The thread sanitizer cannot follow a fork that goes on; under the address sanitizer a fork takes ten seconds.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a partner in a process of its own has them too, and its end is not a desertion") {
  for (const Switch* way : switches()) {
    CAPTURE(std::string(way->name));
    if (!way->available()) continue;
    auto pair = way->make(true);
    REQUIRE(pair.ok());
    PartnerProcess process;
    REQUIRE(process.start(**pair, read_affinity(), {}, Root()).ok());
    CHECK(lead_beside(**pair, [&] { process.guard(**pair); }));
    CHECK((*pair)->control().follow_turns.load() == rounds);
  }
}

TEST_CASE("a partner that cannot be placed is told with its reason, and nothing is left") {
  auto pair = (*find_switch("pipe"))->make(true);
  PartnerProcess process;
  const Status started = process.start(**pair, {1000}, {}, Root());
  REQUIRE(!started.ok());
  CHECK(started.error().code == ExitCode::not_possible);
  process.end();
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}
#endif

TEST_CASE("a leader whose partner is gone is sent home") {
  for (const std::string_view name : {"mutex", "futex", "pipe", "sched_yield"}) {
    CAPTURE(std::string(name));
    auto pair = (*find_switch(name))->make(false);
    REQUIRE(pair.ok());
    const auto gone = [&] {
      (*pair)->control().entered.fetch_add(1);
      (*pair)->abandon();
    };
    CHECK(!lead_beside(**pair, gone));
  }
}

}  // namespace
}  // namespace howlate
