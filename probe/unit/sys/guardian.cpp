#include "sys/guardian.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace howlate {
namespace {

TEST_CASE("a guardian's command line says whose it is and where it runs") {
  const JournalOwner owner{this_boot(), 4711, 123456789012, "/", {}};
  const auto words = guardian_words(owner, {0, 1, 3});
  REQUIRE(words.size() == 5);
  CHECK(words[1] == guardian_word);
  const auto orders = read_guardian_words({words.begin() + 2, words.end()});
  REQUIRE(orders.ok());
  CHECK(orders->owner.boot_id == owner.boot_id);
  CHECK(orders->owner.pid == owner.pid);
  CHECK(orders->owner.start_ticks == owner.start_ticks);
  CHECK(orders->cpus == std::vector<int>{0, 1, 3});
}

TEST_CASE("nothing in a guardian's command line is killed with what is called howlate") {
  std::string line;
  for (const std::string& word : guardian_words({"", 1, 2, "/", {}}, {0})) line += word + ' ';
  CHECK(line.find("howlate") == std::string::npos);
  CHECK(std::string_view(guardian_name).size() < 16);  // as long as the kernel keeps a name
}

TEST_CASE("other words for a guardian are refused") {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"1", "2"}, {"0", "2", "0"}, {"1", "two", "0"}, {"1", "2", "none"}, {"1", "2", "0", "0"}})
    CHECK_FALSE(read_guardian_words(words).ok());
}

TEST_CASE("a program that cannot be a guardian starts none") {
  CHECK(Guardian::of({this_boot(), 1, 2, "/", {}}, {}) == nullptr);
}

}  // namespace
}  // namespace howlate
