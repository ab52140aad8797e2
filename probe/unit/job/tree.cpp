#include "job/tree.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/random.hpp"
#include "core/stream.hpp"
#include "job/window.hpp"
#include "sys/fixture.hpp"

namespace howlate {
namespace {

using Bytes = std::vector<std::byte>;

template <class Number>
Number number_at(const Bytes& bytes, std::size_t at) {
  Number number = 0;
  REQUIRE(at + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::size_t padded(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// What the host does, written anew from the format's text.
std::map<std::string, std::string> read_tree(const Bytes& bytes) {
  std::map<std::string, std::string> files;
  std::string before;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto name_length = number_at<std::uint32_t>(bytes, at);
    const auto crc = number_at<std::uint32_t>(bytes, at + 4);
    const auto size = static_cast<std::size_t>(number_at<std::uint64_t>(bytes, at + 8));
    at += 16;
    REQUIRE(at + padded(name_length) + padded(size) <= bytes.size());
    const std::string name(reinterpret_cast<const char*>(bytes.data() + at), name_length);
    at += padded(name_length);
    const std::string data(reinterpret_cast<const char*>(bytes.data() + at), size);
    CHECK(crc32c(std::as_bytes(std::span(data))) == crc);
    for (std::size_t i = size; i < padded(size); ++i) CHECK(bytes[at + i] == std::byte{0});
    at += padded(size);
    CHECK(name > before);
    before = name;
    files[name] = data;
  }
  return files;
}

Bytes packed(const std::string& folder, std::uint32_t& crc) {
  Bytes bytes;
  TreeWriter writer([&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return true;
  });
  REQUIRE(pack_folder(folder, writer).ok());
  CHECK(writer.size() == bytes.size());
  crc = writer.crc();
  return bytes;
}

TEST_CASE("a folder's files come back, in the order of their names, with their checksums") {
  const Fixture fixture;
  SplitMix random(3);
  std::map<std::string, std::string> files{
      {"0/stdout", ""}, {"0/status", "0\n"}, {"10/x", "ten"}, {"2/x", "two"}};
  for (int i = 0; i < 20; ++i) {
    std::string data(random.below(300), '\0');
    for (char& one : data) one = static_cast<char>(random.below(256));
    files["2/deep/er/" + std::to_string(i)] = data;
  }
  for (const auto& [name, data] : files) fixture.write('/' + name, data);
  REQUIRE(::symlink("/etc/passwd", (fixture.path() + "/link").c_str()) == 0);
  REQUIRE(::mkfifo((fixture.path() + "/pipe").c_str(), 0600) == 0);
  std::uint32_t crc = 0;
  const Bytes bytes = packed(fixture.path(), crc);
  CHECK(crc == crc32c(bytes));
  CHECK(bytes.size() % 8 == 0);
  CHECK(read_tree(bytes) == files);
}

// A window of memory that a host made.
struct Memory {
  explicit Memory(std::size_t bytes) : words(bytes / 8) { std::memcpy(words.data(), "howlwin1", 8); }
  Window window() { return Window(std::span<volatile std::uint64_t>(words.data(), words.size())); }
  void put_job(const std::string& text) {
    words[1] = text.size();
    words[2] = crc32c(std::as_bytes(std::span(text)));
    std::memcpy(words.data() + Window::job_at / 8, text.data(), text.size());
    words[3] = Window::job_is_there;
  }
  [[nodiscard]] Bytes result() const {
    Bytes bytes(words[4]);
    const auto all = std::as_bytes(std::span(words)).subspan(Window::result_at, bytes.size());
    std::copy(all.begin(), all.end(), bytes.begin());
    return bytes;
  }
  std::vector<std::uint64_t> words;
};

TEST_CASE("a job goes through the window, and a damaged one does not") {
  Memory memory(std::size_t{2} << 20U);
  const std::string text = "[\"/bin/true\"]\n[\"/bin/x\"]";
  memory.put_job(text);
  const Window window = memory.window();
  CHECK(window.check().ok());
  CHECK(window.state() == Window::job_is_there);
  const Result<std::string> read = window.read_job();
  REQUIRE(read.ok());
  CHECK(*read == text);
  memory.words[Window::job_at / 8] ^= 1;
  CHECK_FALSE(window.read_job().ok());
  memory.words[Window::job_at / 8] ^= 1;
  memory.words[1] = std::size_t{1} << 40U;
  CHECK_FALSE(window.read_job().ok());
  memory.words[0] = 0;
  CHECK_FALSE(window.check().ok());
}

TEST_CASE("a result comes through the window in whatever pieces it is put") {
  SplitMix random(4);
  for (int turn = 0; turn < 200; ++turn) {
    Memory memory(Window::result_at + 4096);
    Window window = memory.window();
    Bytes whole;
    for (std::uint64_t pieces = random.below(20); pieces > 0; --pieces) {
      Bytes piece(random.below(40));
      for (std::byte& one : piece) one = static_cast<std::byte>(random.below(256));
      REQUIRE(window.put(piece));
      whole.insert(whole.end(), piece.begin(), piece.end());
    }
    window.finish(Window::result_is_there, crc32c(whole));
    CHECK(memory.words[3] == Window::result_is_there);
    CHECK(memory.result() == whole);
    CHECK(memory.words[5] == crc32c(whole));
  }
}

TEST_CASE("a result that is larger than the window is refused, and the sentence about it fits") {
  const Fixture fixture;
  fixture.write("/0/stream", std::string(5000, 'x'));
  Memory memory(Window::result_at + 4096);
  Window window = memory.window();
  TreeWriter writer([&](std::span<const std::byte> piece) { return window.put(piece); });
  const Status status = pack_folder(fixture.path(), writer);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("0/stream") != std::string::npos);
  window.fail("It does not fit.");
  CHECK(memory.words[3] == Window::guest_failed);
  const Bytes said = memory.result();
  CHECK(std::string(reinterpret_cast<const char*>(said.data()), said.size()) == "It does not fit.");
  CHECK(memory.words[5] == crc32c(said));
}

TEST_CASE("exactly as much as the window holds is taken") {
  Memory memory(Window::result_at + 64);
  Window window = memory.window();
  CHECK(window.put(Bytes(64)));
  CHECK_FALSE(window.put(Bytes(1)));
}

}  // namespace
}  // namespace howlate
