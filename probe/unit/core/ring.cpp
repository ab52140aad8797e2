#include "core/ring.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace howlate {
namespace {

struct Item {
  std::int64_t index;
  std::int64_t check;
};

TEST_CASE("a full ring refuses, keeps what it has, and goes on when there is room") {
  std::vector<int> storage(4);
  Ring<int> ring(storage);
  for (int item = 0; item < 4; ++item) CHECK(ring.push(item));
  CHECK_FALSE(ring.push(4));
  CHECK(ring.peek().size() == 4);
  CHECK(ring.peek()[0] == 0);
  ring.pop(3);
  CHECK(ring.push(5));
  CHECK(ring.push(6));
  CHECK(ring.peek().size() == 1);  // up to the end of the storage
  CHECK(ring.peek()[0] == 3);
  ring.pop(1);
  REQUIRE(ring.peek().size() == 2);
  CHECK(ring.peek()[1] == 6);
  ring.pop(2);
  CHECK(ring.peek().empty());
}

// What one thread pushes is what the other takes, whole and in order; what did not fit was refused and is
// counted.
TEST_CASE("two threads: every item is taken once, in order, or was refused") {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{8}, std::size_t{1024}}) {
    constexpr std::int64_t turns = 200'000;
    std::vector<Item> storage(capacity);
    Ring<Item> ring(storage);
    std::atomic<bool> ended{false};
    std::int64_t refused = 0;
    std::thread producer([&] {
      for (std::int64_t index = 0; index < turns; ++index) {
        if (!ring.push({index, ~index})) {
          // On a busy machine a yield costs a whole slice: a few let the consumer in, one a refusal would last
          // for minutes.
          if (++refused <= 20) std::this_thread::yield();
        }
      }
      ended.store(true, std::memory_order_release);
    });
    std::int64_t taken = 0;
    std::int64_t last = -1;
    bool good = true;
    for (bool at_end = false; !at_end;) {
      at_end = ended.load(std::memory_order_acquire);  // read before the look: nothing comes after it
      for (auto items = ring.peek(); !items.empty(); items = ring.peek()) {
        for (const Item& item : items) {
          good = good && item.index > last && item.check == ~item.index;
          last = item.index;
        }
        taken += static_cast<std::int64_t>(items.size());
        ring.pop(items.size());
      }
      std::this_thread::yield();
    }
    producer.join();
    CAPTURE(capacity);
    CHECK(good);
    CHECK(taken + refused == turns);
    CHECK(taken > 0);
  }
}

}  // namespace
}  // namespace howlate
