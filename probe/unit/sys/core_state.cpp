#include "sys/core_state.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sys/fixture.hpp"
#include "sys/gravity.hpp"
#include "sys/undo.hpp"

using namespace howlate;

namespace {

constexpr const char* boot_state = "/sys/module/xenomai/parameters/state";
constexpr const char* tick_device = "/sys/devices/system/clockevents/clockevent0/current_device";

}  // namespace

TEST_CASE("Cobalt runs where Linux's tick is a proxy's, whatever was asked for at boot") {
  for (const char* asked : {"enabled\n", "stopped\n"}) {
    const Fixture tree;
    tree.write(boot_state, asked);
    tree.write("/proc/xenomai/version", "3.3.1\n");
    tree.write(tick_device, "proxy\n");
    CHECK(*read_core_state(tree.root(), "cobalt") == "running");
    CHECK(core_runs(tree.root(), "cobalt").ok());
    tree.write(tick_device, "lapic\n");
    CHECK(*read_core_state(tree.root(), "cobalt") == "stopped");
    const Status stopped = core_runs(tree.root(), "cobalt");
    CHECK(stopped.error().code == ExitCode::not_possible);
    CHECK(stopped.error().message == "the Cobalt core is stopped");
    CHECK(stopped.error().remedy.find("corectl --start") != std::string::npos);
  }
}

TEST_CASE("a Cobalt that did not start is disabled, and one whose tick nobody can see is not known") {
  const Fixture tree;
  tree.write(boot_state, "enabled\n");
  CHECK(*read_core_state(tree.root(), "cobalt") == "disabled");
  CHECK(core_runs(tree.root(), "cobalt").error().message.find("although it was asked for") !=
        std::string::npos);
  CHECK(core_runs(tree.root(), "cobalt").error().remedy.find("xenomai.supported_cpus") != std::string::npos);
  tree.write("/proc/xenomai/version", "3.3.1\n");
  CHECK_FALSE(read_core_state(tree.root(), "cobalt").ok());
  CHECK(core_runs(tree.root(), "cobalt").error().message.find("is not known") != std::string::npos);
}

TEST_CASE(
    "the file of Cobalt's clock is not touched while the core is stopped, because the kernel fails over it") {
  const Fixture tree;
  tree.write(boot_state, "enabled\n");
  tree.write("/proc/xenomai/version", "3.3.1\n");
  tree.write("/proc/xenomai/clock/coreclk", "gravity: irq=0 kernel=2000 user=2000\n");
  tree.write(tick_device, "lapic\n");
  CHECK(read_cobalt_clock(tree.root()).error().message == "the Cobalt core is stopped");
  CHECK_FALSE(read_gravity(tree.root(), "cobalt").ok());
  tree.write(tick_device, "proxy\n");
  CHECK(read_gravity(tree.root(), "cobalt")->user_ns == 2000);
}

TEST_CASE("the gravity of a Cobalt that was stopped is neither read nor written, and still to be restored") {
  const Fixture tree;
  const std::string file(gravity_file("cobalt"));
  tree.write(boot_state, "enabled\n");
  tree.write("/proc/xenomai/version", "3.3.1\n");
  tree.write(file, "0i 0k 0u\n");
  Setting changed;
  changed.form = Form::gravity;
  changed.path = file;
  changed.before = "0i 2000k 2000u";
  changed.wanted = "0i 0k 0u";
  changed.changed = true;
  std::vector<Setting> settings = {changed};
  tree.write(tick_device, "lapic\n");
  CHECK_FALSE(read_setting(tree.root(), Form::gravity, file, changed.wanted).ok());
  const Undone stopped = undo_settings(tree.root(), settings);
  CHECK(stopped.failed == std::vector<std::string>{"the Cobalt core is stopped"});
  CHECK_FALSE(settings.front().restored);
  CHECK(tree.read(file) == "0i 0k 0u\n");
  tree.write(tick_device, "proxy\n");
  CHECK(undo_settings(tree.root(), settings).failed.empty());
  CHECK(tree.read(file) == "0i 2000k 2000u");
}

TEST_CASE("EVL says its own state") {
  const Fixture tree;
  tree.write("/sys/devices/virtual/evl/control/state", "running\n");
  CHECK(core_runs(tree.root(), "evl").ok());
  tree.write("/sys/devices/virtual/evl/control/state", "stopped\n");
  CHECK(core_runs(tree.root(), "evl").error().message == "the EVL core is stopped");
}

TEST_CASE("a kernel without a core has no state of it") {
  const Fixture tree;
  for (const char* core : {"cobalt", "evl"}) {
    CHECK_FALSE(read_core_state(tree.root(), core).ok());
    CHECK(core_runs(tree.root(), core).error().code == ExitCode::not_possible);
    CHECK(core_runs(tree.root(), core).error().message.find("has no") != std::string::npos);
  }
  CHECK(evl_admits_caller(tree.root()).error().absent);
}

TEST_CASE("EVL admits who may read and write its control device") {
  const Fixture tree;
  tree.write("/dev/evl/control", "");
  CHECK(*evl_admits_caller(tree.root()));
}

TEST_CASE("a core that was switched off at boot is in the kernel and disabled, and not missing") {
  const Fixture tree;
  tree.write("/proc/cmdline", "quiet evl.state=disabled\n");
  CHECK(core_runs(tree.root(), "evl").error().message == "the EVL core is in this kernel and disabled");
  const Fixture configured;
  configured.write("/proc/cmdline", "quiet\n");
  configured.write("/proc/sys/kernel/osrelease", "6.6.0-evl\n");
  configured.write("/boot/config-6.6.0-evl", "CONFIG_EVL=y\nCONFIG_SMP=y\n");
  CHECK(core_runs(configured.root(), "evl").error().message == "the EVL core is in this kernel and disabled");
  const Fixture asked;
  asked.write(boot_state, "disabled\n");
  CHECK(core_runs(asked.root(), "cobalt").error().message == "the Cobalt core is disabled");
  CHECK(core_runs(asked.root(), "cobalt").error().remedy.find("xenomai.state=enabled") != std::string::npos);
}

TEST_CASE("what Cobalt's library says of rights is said, and not the line that follows from it") {
  CHECK(reason_of_refusal(
            "0\"000.000| WARNING: [main] cannot open RTDM device /dev/rtdm/memdev-private: "
            "Permission denied\n0\"000.000| BUG in init_bind(): [main] (CONFIG_DEVTMPFS_MOUNT not "
            "enabled?)\n")
            .find("Permission denied") != std::string::npos);
  CHECK(reason_of_refusal("one\ntwo\n") == "two");
  CHECK(reason_of_refusal("") == "it says nothing");
}

TEST_CASE("Cobalt's devices are looked at before its library is") {
  const Fixture tree;
  CHECK(cobalt_admits_caller(tree.root()).ok());
  tree.write("/dev/rtdm/memdev-private", "");
  CHECK(cobalt_admits_caller(tree.root()).ok());
}
