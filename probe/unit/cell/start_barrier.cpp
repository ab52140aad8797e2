// A barrier lets all through when it opens, and sends home who waits; who comes late finds it as it stands.
#include "cell/start_barrier.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace howlate {
namespace {

// What `threads` threads are told, once all have come and `tell` was done; one more comes after that.
template <class Tell>
std::vector<int> told(std::size_t threads, Tell tell) {
  StartBarrier barrier;
  std::vector<int> passed(threads + 1, -1);
  std::vector<std::thread> those;
  for (std::size_t i = 0; i < threads; ++i)
    those.emplace_back([&barrier, &one = passed[i]] { one = barrier.pass() ? 1 : 0; });
  barrier.await(threads);
  tell(barrier);
  for (std::thread& one : those) one.join();
  passed.back() = barrier.pass() ? 1 : 0;
  return passed;
}

TEST_CASE("an opened barrier lets everybody through, and who comes later as well") {
  CHECK(told(4, [](StartBarrier& barrier) { barrier.open(); }) == std::vector<int>(5, 1));
}

TEST_CASE("who waits at a barrier that is given up goes home, and who comes later as well") {
  CHECK(told(4, [](StartBarrier& barrier) { barrier.send_home(); }) == std::vector<int>(5, 0));
}

TEST_CASE("an open barrier stays open") {
  CHECK(told(2, [](StartBarrier& barrier) {
          barrier.open();
          barrier.send_home();
        }) == std::vector<int>(3, 1));
}

}  // namespace
}  // namespace howlate
