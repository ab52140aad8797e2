// Pages of the kernel's trace ring: times, lengths, losses; and that no damaged page is read beyond its end.
#include "core/trace_page.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "core/random.hpp"
#include "trace/made_page.hpp"

namespace howlate {
namespace {

using Times = std::vector<std::int64_t>;

Times times_of(const std::vector<std::byte>& page) {
  PageReader reader({}, page);
  Times times;
  while (const auto event = reader.next()) times.push_back(event->time_ns);
  CHECK(!reader.damaged());
  return times;
}

TEST_CASE("the layout of a page is the kernel's own") {
  const auto layout = parse_page_layout(header_page);
  REQUIRE(layout.has_value());
  CHECK(layout->data_at == 16);
  CHECK(layout->page_bytes() == 4096);
  const auto half = parse_page_layout(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t "
      "commit;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n");
  REQUIRE(half.has_value());
  CHECK(half->commit_bytes == 4);
  CHECK(half->page_bytes() == 4096);
}

TEST_CASE("a layout that cannot be is none") {
  for (const std::string from : {"timestamp", "commit", "data"}) {
    std::string text = header_page;
    text.replace(text.find(from), from.size(), "other");
    CHECK_FALSE(parse_page_layout(text).has_value());
  }
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"size:4080", "size:8"},
                                 {"size:4080", "size:99999999"},
                                 {"offset:16", "offset:4"},
                                 {"offset:16", "offset:4000000000"}}) {
    std::string text = header_page;
    text.replace(text.find(from), from.size(), to);
    CHECK_FALSE(parse_page_layout(text).has_value());
  }
}

TEST_CASE("each event's time is the page's plus all gaps up to it") {
  CHECK(times_of(MadePage(1000).event(0, 7).event(5, 7).event(10, 7).bytes()) == Times{1000, 1005, 1015});
}

TEST_CASE("a gap of more than 27 bits, and a whole time stamp, count for what follows") {
  constexpr std::int64_t hour = 3'600'000'000'000;
  CHECK(times_of(MadePage(1000).event(1, 7).long_gap(time_extend, hour).event(0, 7).bytes()) ==
        Times{1001, 1001 + hour});
  CHECK(times_of(MadePage(1000).long_gap(time_stamp, 5000).event(2, 7).bytes()) == Times{5002});
}

TEST_CASE("a whole time stamp has 59 bits: the others are the page's, or one more where they wrapped") {
  constexpr std::int64_t upper = std::int64_t{1} << 59U;
  CHECK(times_of(MadePage(upper + 1000).long_gap(time_stamp, 5000).event(0, 7).bytes()) ==
        Times{upper + 5000});
  CHECK(times_of(MadePage(2 * upper - 10).long_gap(time_stamp, 20).event(0, 7).bytes()) ==
        Times{2 * upper + 20});
}

TEST_CASE("events of all lengths are found whole") {
  for (const std::size_t bytes : {4U, 12U, 112U, 116U, 400U}) {
    const auto page = MadePage(0).event(0, 7, bytes).event(1, 9).bytes();
    PageReader reader({}, page);
    const auto first = reader.next();
    REQUIRE(first.has_value());
    CHECK(first->data.size() == bytes);
    const auto second = reader.next();
    REQUIRE(second.has_value());
    CHECK(second->data[0] == std::byte{9});
  }
}

TEST_CASE("discarded events are passed over, and an empty rest ends the page") {
  CHECK(times_of(MadePage(0).event(1, 7).discarded(2, 24).event(4, 7).bytes()) == Times{1, 7});
  CHECK(times_of(MadePage(0).event(1, 7).empty_rest().word(0xffffffff).bytes()) == Times{1});
}

TEST_CASE("what was lost before a page is told, with the number where the page has it") {
  const MadePage page = MadePage(50).event(0, 7);
  CHECK(!stretch_of({}, page.bytes()).after_loss);
  CHECK(stretch_of({}, page.bytes(-1)).after_loss);
  CHECK(stretch_of({}, page.bytes(-1)).lost == -1);
  CHECK(stretch_of({}, page.bytes(1234)).lost == 1234);
}

TEST_CASE("a page's stretch is from its first event to its last") {
  const PageStretch stretch = stretch_of({}, MadePage(100).event(3, 7).event(4, 7).bytes());
  CHECK(stretch.first_ns == 103);
  CHECK(stretch.last_ns == 107);
  CHECK(stretch.events == 2);
  CHECK(stretch_of({}, MadePage(100).bytes()).events == 0);
}

TEST_CASE("pages of 32-bit kernels have a shorter commit") {
  const PageLayout layout{0, 8, 4, 12, 4084};
  const auto page = MadePage(10, layout).event(1, 7).bytes(3);
  const PageStretch stretch = stretch_of(layout, page);
  CHECK(stretch.first_ns == 11);
  CHECK(stretch.lost == 3);
}

TEST_CASE("a page that claims more than it has is damaged, and read no further") {
  auto page = MadePage(0).event(1, 7).word(0).bytes();  // a long event without its length
  PageReader reader({}, page);
  CHECK(reader.next().has_value());
  CHECK_FALSE(reader.next().has_value());
  CHECK(reader.damaged());
  page[9] = std::byte{0xff};  // commits more than a page
  CHECK(PageReader({}, page).damaged());
  CHECK(PageReader({}, std::span(page).first(10)).damaged());
}

// Each page in memory of exactly its size, so that a sanitizer sees a read beyond it.
TEST_CASE("damaged pages give events within the page, or none") {
  SplitMix random(14);
  MadePage made(1'000'000);
  for (int i = 0; i < 40; ++i)
    made.event(static_cast<std::uint32_t>(i), 7, 4 + 4 * (static_cast<std::size_t>(i) % 40));
  made.long_gap(time_extend, 1 << 30).discarded(3, 40).event(1, 7).long_gap(time_stamp, 77).event(2, 9, 300);
  const auto whole = made.bytes(99);
  TickTimes times;
  times.add(0, 0);
  times.add(1'000'000, 400'000);
  std::int64_t found = 0, outside = 0, changed = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    const PageLayout layout{0, 8, turn % 2 == 0 ? 8U : 4U, 16, 4080};
    std::vector<std::byte> page = whole;
    for (std::uint64_t changes = random.below(12); changes > 0; --changes)
      page[random.below(turn % 3 == 0 ? 24 : page.size() / 2)] = static_cast<std::byte>(random.below(256));
    page.resize(turn % 5 == 0 ? random.below(page.size()) : page.size());
    page.shrink_to_fit();
    PageReader reader(layout, page);
    std::int64_t events = 0;
    while (const auto event = reader.next()) {
      ++events;
      const bool within = event->data.data() >= page.data() &&
                          event->data.data() + event->data.size() <= page.data() + page.size();
      outside += within ? 0 : 1;
    }
    found += events;
    retime(layout, page, times, 0);
    const PageStretch after = stretch_of(layout, page);
    changed += after.events != events ? 1 : 0;
  }
  CHECK(outside == 0);
  CHECK(changed == 0);
  CHECK(found > 20'000);
}

// A page by a counter of 2.5 GHz from `first` on, as one by the clock.
Times retimed(MadePage page, std::int64_t first) {
  TickTimes times;
  times.add(first, 1'000'000);
  times.add(first + 2'500'000'000, 1'001'000'000);
  auto bytes = page.bytes();
  retime({}, bytes, times, 0);
  return times_of(bytes);
}

TEST_CASE("a page by a counter is told by the clock, whatever its times are written as") {
  constexpr std::int64_t first = 5'000'000'000'000;
  CHECK(retimed(MadePage(first).event(0, 7).event(25, 7, 400).discarded(50, 12).event(2500, 7), first) ==
        Times{1'000'000, 1'000'010, 1'001'030});
  CHECK(retimed(MadePage(first).event(0, 7).discarded(1, 12).event(10, 7), first) ==
        Times{1'000'000, 1'000'004});
  constexpr std::int64_t hour = 3600 * std::int64_t{2'500'000'000};
  CHECK(retimed(MadePage(first).event(0, 7).long_gap(time_extend, hour).event(5, 7), first) ==
        Times{1'000'000, 3'600'001'000'002});
  CHECK(retimed(MadePage(first).long_gap(time_stamp, first + 500).event(50, 7).event(0, 7), first) ==
        Times{1'000'220, 1'000'220});
}

TEST_CASE("what is rounded does not add up over a page's events") {
  constexpr std::int64_t first = 1'000;
  MadePage page(first);
  for (int i = 0; i < 200; ++i) page.event(3, 7);
  const Times times = retimed(page, first);
  REQUIRE(times.size() == 200);
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(times[i] == 1'000'000 + static_cast<std::int64_t>((i + 1) * 12 + 5) / 10);
}

TEST_CASE("a gap that a counter of hardly 1 GHz makes too long is told with the next event") {
  TickTimes times;
  times.add(0, 0);
  times.add(1'000'000'000, 1'000'100'000);
  constexpr std::uint32_t longest = (1U << 27U) - 1;
  auto bytes = MadePage(0).event(longest, 7).event(1000, 7).bytes();
  retime({}, bytes, times, 0);
  CHECK(times_of(bytes) == Times{longest, 134'232'149});
}

TEST_CASE("a page over which the clock's rate changed has each part by its own") {
  constexpr std::int64_t far = TickTimes::apart_ns;
  TickTimes times;
  times.add(0, 0);
  times.add(2 * far, far);
  times.add(4 * far, 3 * far);
  auto bytes = MadePage(2 * far - 10).event(0, 7).event(10, 7).event(10, 7).bytes(5);
  const PageStretch told = stretch_of({}, bytes, times, 0);
  retime({}, bytes, times, 0);
  CHECK(times_of(bytes) == Times{far - 5, far, far + 10});
  const PageStretch stretch = stretch_of({}, bytes);
  CHECK(std::tuple{told.first_ns, told.last_ns, told.events, told.lost} ==
        std::tuple{stretch.first_ns, stretch.last_ns, stretch.events, stretch.lost});
  CHECK(stretch.lost == 5);
}

TEST_CASE("no event of a page is before what was read of its CPU already") {
  TickTimes times;
  times.add(0, 0);
  times.add(2'000'000'000, 1'000'000'000);
  auto bytes = MadePage(200).event(0, 7).event(20, 7).event(20, 7).bytes();
  CHECK(stretch_of({}, bytes, times, 105).first_ns == 105);
  retime({}, bytes, times, 105);
  CHECK(times_of(bytes) == Times{105, 110, 120});
}

TEST_CASE("pages of 32-bit kernels are retimed where they have their events") {
  const PageLayout layout{0, 8, 4, 12, 4084};
  TickTimes times;
  times.add(0, 0);
  times.add(2'000'000'000, 1'000'000'000);
  auto bytes = MadePage(200, layout).event(0, 7).event(20, 7).bytes(3);
  retime(layout, bytes, times, 0);
  const PageStretch stretch = stretch_of(layout, bytes);
  CHECK(std::tuple{stretch.first_ns, stretch.last_ns, stretch.lost} == std::tuple{100, 110, 3});
}

}  // namespace
}  // namespace howlate
