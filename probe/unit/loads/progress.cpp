#include "loads/base/progress.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace howlate {
namespace {

TEST_CASE("workers count in a file without a name where the kernel makes none in memory") {
  const Fd file = unnamed_file();
  REQUIRE(file.valid());
  struct stat seen {};
  REQUIRE(::fstat(file.get(), &seen) == 0);
  CHECK(seen.st_nlink == 0);
  const auto workers = map_worker_slots(3, file.get()), starter = map_worker_slots(3, file.get());
  REQUIRE(workers);
  REQUIRE(starter);
  (*workers)[1].units.store(5, std::memory_order_relaxed);
  CHECK((*starter)[1].units.load(std::memory_order_relaxed) == 5);
}

}  // namespace
}  // namespace howlate
