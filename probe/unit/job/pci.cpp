#include "job/pci.hpp"

#include <doctest/doctest.h>

#include "job/kernel_log.hpp"
#include "sys/fixture.hpp"

namespace howlate {
namespace {

void device(const Fixture& fixture, const std::string& at, const std::string& vendor,
            const std::string& number, const std::string& ranges) {
  const std::string folder = "/sys/bus/pci/devices/" + at;
  fixture.write(folder + "/vendor", vendor + "\n");
  fixture.write(folder + "/device", number + "\n");
  fixture.write(folder + "/enable", "0\n");
  fixture.write(folder + "/resource", ranges);
}

TEST_CASE("a device is found by its numbers and its memory mapped where its range begins") {
  const Fixture fixture;
  device(fixture, "0000:00:01.0", "0x8086", "0x29c0", "");
  device(fixture, "0000:00:02.0", "0x1b36", "0x0011",
         "0x00000000febf1010 0x00000000febf101f 0x0000000000040200\n"
         "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
  const Result<std::string> folder = find_pci(fixture.root(), 0x1b36, 0x0011);
  REQUIRE(folder.ok());
  CHECK(folder->ends_with("0000:00:02.0"));
  fixture.write("/sys/bus/pci/devices/0000:00:02.0/resource0", std::string(65536, '.'));
  {
    const Result<PciMemory> memory = PciMemory::map(*folder, 0);
    REQUIRE(memory.ok());
    CHECK(memory->bytes() == 16);
    memory->at()[0] = '1';
  }
  const std::string seen = fixture.read("/sys/bus/pci/devices/0000:00:02.0/resource0");
  CHECK(seen.find('1') == 0x10);  // the range begins 16 bytes into its page
  CHECK(fixture.read("/sys/bus/pci/devices/0000:00:02.0/enable") == "1");
}

TEST_CASE("what is not there is said") {
  const Fixture fixture;
  device(fixture, "0000:00:02.0", "0x1b36", "0x0011", "0x0 0x0 0x0\n");
  CHECK_FALSE(find_pci(fixture.root(), 0x1af4, 0x1110).ok());
  CHECK_FALSE(find_pci(Root("/no/such/folder"), 0x1af4, 0x1110).ok());
  const Result<std::string> folder = find_pci(fixture.root(), 0x1b36, 0x0011);
  REQUIRE(folder.ok());
  CHECK_FALSE(PciMemory::map(*folder, 0).ok());  // an empty range
  CHECK_FALSE(PciMemory::map(*folder, 5).ok());  // no such line
}

TEST_CASE("a record of the kernel's log becomes level, time and text") {
  CHECK(kernel_message("6,339,5140900,-;brd: module loaded\n") == "6 5140900 brd: module loaded");
  CHECK(kernel_message("30,1,2,-;a;b\n SUBSYSTEM=x\n") == "6 2 a;b");  // the facility is not the level
  CHECK(kernel_message("4,1,7,c;\n") == "4 7 ");
  CHECK(kernel_message("nonsense").empty());
  CHECK(kernel_message("").empty());
}

}  // namespace
}  // namespace howlate
