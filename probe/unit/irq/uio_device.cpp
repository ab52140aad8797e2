#include "irq/uio_device.hpp"

#include <doctest/doctest.h>

#include "sys/fixture.hpp"

namespace howlate {
namespace {

TEST_CASE("a UIO device is found by its name, not by its number") {
  const Fixture machine;
  machine.write("/sys/class/uio/uio0/name", "uart\n");
  machine.write("/sys/class/uio/uio1/name", "howlate_edu\n");
  machine.write("/sys/class/uio/uio7/name", "howlate_hrtimer\n");
  CHECK(*UioDevice::find(HOWLATE_UIO_EDU, machine.root()) == machine.path() + "/dev/uio1");
  CHECK(*UioDevice::find(HOWLATE_UIO_HRTIMER, machine.root()) == machine.path() + "/dev/uio7");
}

TEST_CASE("without the module, and without the device that it drives, the reasons differ") {
  const Fixture machine;
  machine.write("/sys/class/uio/uio0/name", "uart\n");
  const auto none = UioDevice::find(HOWLATE_UIO_EDU, machine.root());
  REQUIRE(!none);
  CHECK(none.error().message.find("built without modules") != std::string::npos);
  machine.write("/sys/class/uio/uio1/name", "howlate_hrtimer\n");
  const auto device = UioDevice::find(HOWLATE_UIO_EDU, machine.root());
  REQUIRE(!device);
  CHECK(device.error().message.find("PCI device edu") != std::string::npos);
  CHECK(device.error().remedy.find("--source hrtimer") != std::string::npos);
}

}  // namespace
}  // namespace howlate
