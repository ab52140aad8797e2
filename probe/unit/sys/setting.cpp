// What a file of settings reads as, where the kernel shows another value for a moment.
#include "sys/setting.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace howlate {
namespace {

// Of so many reads, one after another, the last for ever.
std::string cpus_of(const std::vector<std::string>& shown) {
  std::size_t next = 0;
  const auto text =
      read_cpus([&]() -> Result<std::string> { return shown[std::min(next++, shown.size() - 1)]; });
  return text ? *text : text.error().message;
}

TEST_CASE("CPUs that are shown as none for a moment are read again") {
  CHECK(cpus_of({"0-1"}) == "0-1");
  CHECK(cpus_of({"", "1"}) == "1");
  CHECK(cpus_of({"", "", "1"}) == "1");
  CHECK(cpus_of({""}).empty());  // those of a new cpuset
}

TEST_CASE("an error of reading CPUs is returned at once") {
  int reads = 0;
  const auto text = read_cpus([&]() -> Result<std::string> {
    ++reads;
    return not_possible("went meanwhile");
  });
  CHECK_FALSE(text.ok());
  CHECK(reads == 1);
}

}  // namespace
}  // namespace howlate
