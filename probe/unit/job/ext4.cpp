#include "job/ext4.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "sys/fixture.hpp"

namespace howlate {
namespace {

constexpr std::uint64_t mib = 1024 * 1024;

std::string image(const Fixture& fixture, const std::vector<Ext4Block>& blocks, std::uint64_t bytes) {
  const std::string path = fixture.path() + "/image";
  std::ofstream file(path, std::ios::binary);
  for (const Ext4Block& block : blocks) {
    file.seekp(static_cast<std::streamoff>(block.number * Ext4Block::bytes));
    file.write(reinterpret_cast<const char*>(block.data.data()), Ext4Block::bytes);
  }
  file.close();
  std::filesystem::resize_file(path, bytes);
  return path;
}

int checked(const std::string& path) {
  const int how = std::system(("e2fsck -f -n " + path + " >" + path + ".log 2>&1").c_str());
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

TEST_CASE("e2fsck finds nothing wrong with a file system of any size") {
  setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
  // One group, exactly one, a last group too small for its tables, just large enough, two, many.
  for (const std::uint64_t bytes : {8 * mib, 128 * mib, 128 * mib + 11 * 4096, 128 * mib + 12 * 4096,
                                    192 * mib, 1024 * mib + 4096, 8 * mib + 4095}) {
    CAPTURE(bytes);
    const Fixture fixture;
    const Result<std::vector<Ext4Block>> blocks = make_ext4(bytes);
    REQUIRE(blocks.ok());
    for (std::size_t i = 1; i < blocks->size(); ++i) CHECK((*blocks)[i].number > (*blocks)[i - 1].number);
    const std::string path = image(fixture, *blocks, bytes);
    const int code = checked(path);
    CAPTURE(fixture.read("/image.log"));
    CHECK(code == 0);
  }
}

TEST_CASE("e2fsck would find what is wrong") {
  const Fixture fixture;
  Result<std::vector<Ext4Block>> blocks = make_ext4(8 * mib);
  REQUIRE(blocks.ok());
  (*blocks)[2].data[0] ^= 0x10;  // a used block that is not marked so
  CHECK(checked(image(fixture, *blocks, 8 * mib)) == 4);
}

TEST_CASE("equal sizes give equal bytes, and a device that is too small or too large is refused") {
  CHECK_FALSE(make_ext4(0).ok());
  CHECK_FALSE(make_ext4(8 * mib - 1).ok());
  CHECK_FALSE(make_ext4(std::uint64_t{1} << 35U).ok());
  const auto one = make_ext4(192 * mib), two = make_ext4(192 * mib);
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  REQUIRE(one->size() == two->size());
  for (std::size_t i = 0; i < one->size(); ++i) {
    CHECK((*one)[i].number == (*two)[i].number);
    CHECK((*one)[i].data == (*two)[i].data);
  }
}

}  // namespace
}  // namespace howlate
