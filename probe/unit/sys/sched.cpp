#include "sys/sched.hpp"

#include <doctest/doctest.h>

#include "fixture.hpp"
#include "sys/cpus.hpp"
#include "sys/rights.hpp"

namespace howlate {
namespace {

TEST_CASE("a policy's text and its meaning are each other's inverse") {
  for (const char* text : {"other", "batch", "idle", "fifo:1", "fifo:80", "rr:99", "deadline:200us:1ms:1ms",
                           "deadline:1500ns:2us:1s"}) {
    const auto policy = parse_policy(text);
    REQUIRE_MESSAGE(policy.ok(), text);
    CHECK(policy_text(*policy) == text);
  }
}

TEST_CASE("a policy that is none is refused with an example of a right one") {
  for (const char* text : {"", "fifo", "fifo:", "fifo:0", "fifo:100", "fifo:80:1", "fifo:8x", "other:1",
                           "fair", "deadline:1ms:1ms", "deadline:0ns:1ms:1ms", "deadline:2ms:1ms:1ms",
                           "deadline:1ms:2ms:1ms", "deadline:1:1:1"}) {
    const auto policy = parse_policy(text);
    REQUIRE_MESSAGE(!policy.ok(), text);
    CHECK(policy.error().code == ExitCode::usage);
    CHECK(policy.error().remedy.find("fifo:80") != std::string::npos);
  }
}

TEST_CASE("a list of CPUs is written in runs") {
  CHECK(cpu_list_text({}).empty());
  CHECK(cpu_list_text({3}) == "3");
  CHECK(cpu_list_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
}

TEST_CASE("what this thread may use is read back, and can be narrowed and widened") {
  const std::vector<int> allowed = read_affinity();
  REQUIRE(!allowed.empty());
  CHECK(set_affinity({allowed.back()}).ok());
  CHECK(read_affinity() == std::vector<int>{allowed.back()});
  CHECK(set_affinity(allowed).ok());
  CHECK(!set_affinity({}).ok());
}

TEST_CASE("a process may name the isolated CPUs beside its own, as far as the kernel lets it run there") {
  const std::vector<int> allowed = read_affinity();
  const Fixture fixture;
  CHECK(nameable_cpus(fixture.root()) == allowed);
  constexpr auto isolated = "/sys/devices/system/cpu/isolated";
  fixture.write(isolated, std::to_string(allowed.back()) + "\n");
  CHECK(nameable_cpus(fixture.root()) == allowed);
  fixture.write(isolated, "4095\n");  // no machine of the tests has it
  CHECK(nameable_cpus(fixture.root()) == allowed);
  if (allowed.size() < 2) return;
  REQUIRE(set_affinity({allowed.front()}).ok());
  CHECK(nameable_cpus(fixture.root()) == std::vector<int>{allowed.front()});
  fixture.write(isolated, std::to_string(allowed.back()) + "\n");
  CHECK(nameable_cpus(fixture.root()) == std::vector<int>{allowed.front(), allowed.back()});
  CHECK(read_affinity() == std::vector<int>{allowed.front()});
  REQUIRE(set_affinity(allowed).ok());
}

TEST_CASE("timer slack is set and read back; 0 leaves it as found") {
  const std::int64_t found = read_timer_slack();
  CHECK(set_timer_slack(0).ok());
  CHECK(read_timer_slack() == found);
  CHECK(set_timer_slack(77'000).ok());
  CHECK(read_timer_slack() == 77'000);
  CHECK(set_timer_slack(found).ok());
}

TEST_CASE("asking whether a policy may be had changes nothing of the asking thread") {
  const auto before = read_policy();
  static_cast<void>(may_have_policy({.kind = SchedKind::fifo, .priority = 10}));
  CHECK(may_have_policy({}).ok());
  CHECK(read_policy().value() == before.value());
}

TEST_CASE("a capability is a bit of the effective set") {
  const Fixture fixture;
  CHECK(!has_capability(fixture.root(), Capability::sys_nice));
  fixture.write("/proc/self/status", "Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000800000\n");
  CHECK(has_capability(fixture.root(), Capability::sys_nice));
  CHECK(!has_capability(fixture.root(), Capability::ipc_lock));
}

}  // namespace
}  // namespace howlate
