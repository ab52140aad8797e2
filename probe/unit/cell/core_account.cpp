// What an account says of a real-time core beside Linux.
#include <doctest/doctest.h>

#include <string>

#include "cell/document_parts.hpp"
#include "cell/text_parts.hpp"

using namespace howlate;

namespace {

LaneAccount account_of(std::int64_t switches, std::int64_t gravity_ns) {
  LaneAccount account;
  account.core.switches = switches;
  account.core.gravity_ns = gravity_ns;
  return account;
}

std::string trailer_of(const LaneAccount& account) {
  CellOutcome outcome;
  outcome.accounts = {account};
  return trailer_json(outcome, {});
}

std::string text_of(const LaneAccount& account) {
  std::string text;
  write_account_text(text, account);
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a handler has a gravity and no count of switches, as it is no thread") {
  const LaneAccount handler = account_of(-1, 0);
  CHECK(has(trailer_of(handler), R"("gravity_ns": 0)"));
  CHECK_FALSE(has(trailer_of(handler), "stage_switches"));
  CHECK(has(text_of(handler), "switches to Linux's stage: none, as there is no thread; gravity 0"));
}

TEST_CASE("a thread of a core has both, and a count of 0 is told") {
  const LaneAccount thread = account_of(0, 2000);
  CHECK(has(trailer_of(thread), R"("stage_switches": 0)"));
  CHECK(has(trailer_of(thread), R"("gravity_ns": 2000)"));
  CHECK(has(text_of(thread), "switches to Linux's stage: 0; gravity 2"));
}

TEST_CASE("a thread of Linux's has nothing of a core") {
  const LaneAccount thread = account_of(-1, -1);
  CHECK_FALSE(has(trailer_of(thread), "gravity_ns"));
  CHECK_FALSE(has(trailer_of(thread), "stage_switches"));
  CHECK_FALSE(has(text_of(thread), "gravity"));
}
