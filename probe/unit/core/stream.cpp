#include "core/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../../fuzz/example.hpp"
#include "../../fuzz/mend.hpp"
#include "../../fuzz/stream_input.hpp"
#include "core/random.hpp"
#include "core/stream_check.hpp"
#include "core/stream_reader.hpp"

namespace howlate {
namespace {

using example::Bytes, example::Example, example::header_text, example::Rows, example::totals, example::types;

std::size_t frames_of(std::span<const std::byte> bytes) {
  FrameReader reader(bytes);
  std::size_t frames = 0;
  while (reader.next()) ++frames;
  return frames;
}

TEST_CASE("a frame's bytes are those of the documentation") {
  Bytes bytes;
  const std::vector<std::int64_t> latency = {5, -1};
  const std::vector<std::int64_t> flags = {1, 0};
  const std::array small = {ColumnType::i64, ColumnType::u8};
  const std::array<std::span<const std::int64_t>, 2> columns = {latency, flags};
  StreamEncoder::batch(bytes, 3, totals(2, 1, 0), small, columns);
  const std::vector<int> expected = {
      64,  0,   0,   0,   2,   0,   3,   0,    // length, kind, zero, table
      230, 98,  42,  155,                      // crc
      2,   0,   0,   0,   0,   0,   0,   0,    // rows, zero
      2,   0,   0,   0,   0,   0,   0,   0,    // rows_total
      3,   0,   0,   0,   0,   0,   0,   0,    // releases
      1,   0,   0,   0,   0,   0,   0,   0,    // overruns
      0,   0,   0,   0,   0,   0,   0,   0,    // dropped
      5,   0,   0,   0,   0,   0,   0,   0,    // latency_ns, row 0
      255, 255, 255, 255, 255, 255, 255, 255,  // latency_ns, row 1
      1,   0,   0,   0,   0,   0,   0,   0,    // flags, padded
  };
  REQUIRE(bytes.size() == expected.size());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CAPTURE(at);
    CHECK(std::to_integer<int>(bytes[at]) == expected[at]);
  }
}

TEST_CASE("what was encoded is what is read, for every type and its extremes") {
  Bytes bytes;
  StreamEncoder::magic(bytes);
  StreamEncoder::header(bytes, "{}");
  const std::array<std::vector<std::int64_t>, 3> values = {
      std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX},
      std::vector<std::int64_t>{INT32_MIN, -1, INT32_MAX}, std::vector<std::int64_t>{0, 128, 255}};
  const std::array<std::span<const std::int64_t>, 3> spans = {values[0], values[1], values[2]};
  StreamEncoder::batch(bytes, 7, totals(3, 4, 5), types, spans);
  FrameReader reader(bytes);
  const auto header = reader.next();
  REQUIRE(header.has_value());
  CHECK(header->kind == FrameKind::header);
  const auto batch = reader.next();
  REQUIRE(batch.has_value());
  CHECK(batch->kind == FrameKind::batch);
  CHECK(batch->table == 7);
  const auto head = read_batch_head(batch->payload);
  REQUIRE(head.has_value());
  CHECK(head->rows == 3);
  CHECK(head->totals.releases == 12);
  CHECK(head->totals.dropped == 5);
  const auto columns = read_columns(batch->payload, types);
  REQUIRE(columns.has_value());
  for (std::size_t column = 0; column < 3; ++column) CHECK((*columns)[column] == values[column]);
  CHECK_FALSE(read_columns(batch->payload, std::span(types).first(2)).has_value());
  CHECK_FALSE(reader.next().has_value());
  CHECK(reader.end() == StreamEnd::no_trailer);
}

TEST_CASE("the bytes of a batch do not wrap where addresses have 32 bits") {
  const std::array one = {ColumnType::i64};
  CHECK(batch_bytes(one, 0x20000001U) == batch_head_bytes + 8 * std::uint64_t{0x20000001U});
  CHECK(column_bytes(ColumnType::i32, UINT32_MAX) == (std::uint64_t{UINT32_MAX} + 1) * 4);
}

TEST_CASE("the whole example is sound, and its account is the trailer's") {
  const Example example;
  const StreamReport report = check_stream(example.bytes);
  CHECK(report.problem == "");
  CHECK(report.end == StreamEnd::trailer);
  REQUIRE(report.tables.size() == 1);
  CHECK(report.tables.at(0).rows == 14);
  CHECK(report.tables.at(0).totals.releases == 18);
  CHECK(describe(report).find("releases 18 = recorded 14 + overruns 3 + dropped 1") != std::string::npos);
}

TEST_CASE("cut at every byte, a stream is readable up to its last whole frame") {
  const Example example;
  for (std::size_t length = 0; length < example.bytes.size(); ++length) {
    const Bytes cut(example.bytes.begin(),
                    example.bytes.begin() + static_cast<std::ptrdiff_t>(length));  // the sanitizer's edge
    CAPTURE(length);
    const auto whole = static_cast<std::size_t>(
        std::upper_bound(example.ends.begin(), example.ends.end(), length) - example.ends.begin());
    const StreamReport report = check_stream(cut);
    const bool between = whole > 1 && example.ends[whole - 1] == length;
    REQUIRE(frames_of(cut) == (whole == 0 ? 0 : whole - 1));
    REQUIRE(report.end == (between ? StreamEnd::no_trailer : StreamEnd::cut));
    REQUIRE(report.sound() == between);
    REQUIRE(report.whole_bytes == (whole == 0 ? 0 : example.ends[whole - 1]));
    if (whole >= 3) REQUIRE(report.tables.at(0).totals.balanced());
    read_stream_input(cut);
  }
}

TEST_CASE("every flipped bit is noticed, and what stands before its frame is kept") {
  const Example example;
  for (std::size_t bit = 0; bit < 8 * example.bytes.size(); ++bit) {
    Bytes altered = example.bytes;
    altered[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CAPTURE(bit);
    const StreamReport report = check_stream(altered);
    REQUIRE_FALSE(report.sound());
    REQUIRE(report.whole_bytes <= bit / 8);
    const auto frame = std::upper_bound(example.ends.begin(), example.ends.end(), bit / 8);
    const std::size_t before = frame == example.ends.begin() ? 0 : *(frame - 1);
    REQUIRE(report.whole_bytes == before);
  }
}

TEST_CASE("frames larger than allowed are refused before anything is read of them") {
  Bytes bytes;
  StreamEncoder::magic(bytes);
  for (const int byte : {1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0})
    bytes.push_back(static_cast<std::byte>(byte));  // 16 MiB + 1
  const StreamReport report = check_stream(bytes);
  CHECK(report.end == StreamEnd::damaged);
  CHECK(report.problem.find("16777217 bytes, more than a frame may have") != std::string::npos);
}

TEST_CASE("frames out of order, strange files and other formats are told apart in a sentence") {
  Bytes magic;
  StreamEncoder::magic(magic);
  const auto problem = [](const Bytes& bytes) { return check_stream(bytes).problem; };
  CHECK(problem({}).find("there is no stream in it") != std::string::npos);
  CHECK(problem(Bytes(100, std::byte{'x'})) == "the file does not begin as a stream does");
  Bytes newer = magic;
  newer[7] = std::byte{2};
  CHECK(problem(newer) == "this is a stream of format 2, and this probe reads format 1");
  Bytes headless = magic;
  StreamEncoder::trailer(headless, "{}");
  CHECK(problem(headless).starts_with("the first frame is not the header"));
  Bytes twice = magic;
  StreamEncoder::header(twice, header_text);
  StreamEncoder::header(twice, header_text);
  CHECK(problem(twice).starts_with("there is a second header"));
  Example after;
  StreamEncoder::trailer(after.bytes, "{}");
  CHECK(problem(after.bytes).starts_with("a frame follows the trailer"));
}

TEST_CASE("a stream that contradicts itself is damaged though every checksum holds") {
  const auto with = [](const std::vector<std::pair<std::size_t, Totals>>& batches, std::string_view trailer) {
    Bytes bytes;
    StreamEncoder::magic(bytes);
    StreamEncoder::header(bytes, header_text);
    for (const auto& [rows, account] : batches) Rows(rows, rows).put(bytes, account);
    if (!trailer.empty()) StreamEncoder::trailer(bytes, trailer);
    return check_stream(bytes).problem;
  };
  Totals lost = totals(5, 0, 0);
  lost.releases = 6;
  CHECK(with({{5, lost}}, "").starts_with("the account of table 0 does not add up"));
  CHECK(with({{5, totals(6, 0, 0)}}, "").starts_with("table 0 says 6 rows up to here, and there are 5"));
  CHECK(with({{5, totals(5, 3, 0)}, {1, totals(6, 2, 0)}}, "")
            .starts_with("the account of table 0 runs backwards"));
  const Totals overflow = {.releases = 5, .recorded = 5, .overruns = INT64_MAX, .dropped = INT64_MIN};
  const Totals negative = {.releases = 5, .recorded = 5, .overruns = 1, .dropped = -1};
  CHECK(with({{5, negative}}, "").find("table 0") != std::string::npos);
  const Totals in_trailer = totals(5, 0, 0);
  CHECK(with({{5, in_trailer}},
             R"({"accounting": [{"table": 0, "releases": 5, "recorded": 5, "overruns": 1, "dropped": -1}]})")
            .starts_with("the trailer's account of table 0 does not add up"));
  CHECK_FALSE(with({{5, overflow}}, "").empty());
  CHECK(with({{5, totals(5, 0, 0)}},
             R"({"accounting": [{"table": 0, "releases": 4, "recorded": 4, "overruns": 0, "dropped": 0}]})")
            .starts_with("the trailer's account of table 0 has 4 rows, and there are 5"));
  CHECK(with({{5, totals(5, 2, 0)}},
             R"({"accounting": [{"table": 0, "releases": 5, "recorded": 5, "overruns": 0, "dropped": 0}]})")
            .starts_with("the trailer's account of table 0 is smaller"));
  CHECK(with({}, R"({"accounting": [{"table": 9}]})").starts_with("the trailer has an account of a table"));
  CHECK(with({}, "[").starts_with("the trailer cannot be read"));
  CHECK(with({}, "{}").starts_with("the trailer has no accounting"));
}

// What the fuzzer does, from a seed: some thousands of altered streams, also with their checksums mended.
TEST_CASE("altered at random, a stream is read without harm") {
  const Example example;
  SplitMix random(4);
  for (int turn = 0; turn < 6'000; ++turn) {
    Bytes bytes = example.bytes;
    for (std::uint64_t edits = 1 + random.below(6); edits > 0 && !bytes.empty(); --edits) {
      const auto at = static_cast<std::ptrdiff_t>(random.below(bytes.size()));
      const auto many = static_cast<std::ptrdiff_t>(
          std::min<std::uint64_t>(random.below(24), bytes.size() - static_cast<std::size_t>(at)));
      switch (random.below(5)) {
        case 0:
          bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(random.next());
          break;
        case 1:
          bytes[static_cast<std::size_t>(at)] ^= static_cast<std::byte>(1U << random.below(8));
          break;
        case 2:
          bytes.erase(bytes.begin() + at, bytes.begin() + at + many);
          break;
        case 3:
          bytes.insert(bytes.begin() + at, static_cast<std::size_t>(many),
                       static_cast<std::byte>(random.next()));
          break;
        default:
          bytes.resize(static_cast<std::size_t>(at));
          break;
      }
    }
    bytes.shrink_to_fit();
    read_stream_input(bytes);
    read_stream_input(mended(bytes));
  }
}

}  // namespace
}  // namespace howlate
