// Real-time throttling from the kernel's log, and heat from its counters, below a fixture's root.
#include "sys/throttling.hpp"

#include <doctest/doctest.h>

#include "fixture.hpp"

namespace howlate {
namespace {

const std::string first = "5,0,0,-;Linux version 6.1\n SUBSYSTEM=nothing\n";
const std::string later = "6,9,12,-;something later\n";
const std::string throttled = "4,712,5161541998,-;sched: RT throttling activated\n";

struct Log : Fixture {
  explicit Log(const std::string& text, const std::string& runtime = "950000\n") {
    write("/dev/kmsg", text);
    write("/proc/sys/kernel/sched_rt_runtime_us", runtime);
  }
  void add(const std::string& text) const { write("/dev/kmsg", read("/dev/kmsg") + text); }
};

TEST_CASE("real-time throttling happened when the kernel said so meanwhile") {
  const Log log(first + later);
  const RtThrottling since(log.root());
  log.add(later + throttled + later);
  CHECK(since.happened() == true);
}

TEST_CASE(
    "real-time throttling did not happen when the whole log since boot is silent, or nothing is limited") {
  const Log log(first + later);
  const RtThrottling since(log.root());
  log.add(later);
  CHECK(since.happened() == false);
  const Log cut_log_without_limit(later, "-1\n");
  CHECK(RtThrottling(cut_log_without_limit.root()).happened() == false);
}

TEST_CASE(
    "it is not known where the kernel has said it before, or the log's beginning is lost, or may not be "
    "read") {
  const Log said(first + throttled);
  CHECK_FALSE(RtThrottling(said.root()).happened().has_value());
  const Log cut(later);
  CHECK_FALSE(RtThrottling(cut.root()).happened().has_value());
  const Fixture none;
  CHECK_FALSE(RtThrottling(none.root()).happened().has_value());
}

TEST_CASE("what somebody else wrote into the log is not the kernel's word") {
  const Log log(first);
  const RtThrottling since(log.root());
  log.add(
      "12,8,9,-;sched: RT throttling activated\n4,9,9,-;he said: sched: RT throttling "
      "activated\nbroken\n,,;\n");
  CHECK(since.happened() == false);
}

TEST_CASE("heat is added up over the CPUs, and nothing where nobody counts it") {
  const Fixture fixture;
  CHECK_FALSE(read_heat(fixture.root(), {0, 1}).core.has_value());
  fixture.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
  fixture.write("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4\n");
  fixture.write("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "9\n");
  const HeatCounts heat = read_heat(fixture.root(), {0, 1});
  CHECK(heat.core == 7);
  CHECK(heat.package == 9);
}

}  // namespace
}  // namespace howlate
